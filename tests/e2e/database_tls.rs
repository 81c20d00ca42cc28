//! What `sslmode` means, against a Postgres whose certificate nobody else trusts.

use pillarbox_tests::{PrivateServer, ServerKind};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use runtime::Config;
use store::{SchemaVersion, Store, StoreError};
use tempfile::NamedTempFile;

/// Asks a database of this URL for its version, as a process does.
async fn ask(url: &str) -> Result<SchemaVersion, StoreError> {
    runtime::install_crypto();
    let settings = [("PILLARBOX__DATABASE__URL".to_owned(), url.to_owned())].into();
    let config = Config::with(settings).unwrap();
    Store::new(&config.database)?.find_schema_version().await
}

/// A certificate for these names that is its own issuer, as `openssl req -x509` makes them, and its key.
fn self_signed(names: &[&str]) -> (String, String) {
    let names = names
        .iter()
        .map(|name| (*name).to_owned())
        .collect::<Vec<_>>();
    let mut parameters = CertificateParams::new(names).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    (
        parameters.self_signed(&key).unwrap().pem(),
        key.serialize_pem(),
    )
}

/// A server that speaks TLS with this certificate. Its files are written by the server, whose they must be.
fn with_certificate(server: &PrivateServer, certificate: &str, key: &str) {
    for (file, content) in [("server.crt", certificate), ("server.key", key)] {
        let lines = format!(
            "SELECT unnest(string_to_array('{}', E'\\n'))",
            content.trim()
        );
        let copy = format!("COPY ({lines}) TO PROGRAM 'umask 077; cat > {file}'");
        server.run_client(&["-c", &copy]);
    }
    server.run_client(&["-c", "ALTER SYSTEM SET ssl = on"]);
    server.run_action("restart");
}

fn root_file(certificate: &str) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), certificate).unwrap();
    file
}

#[tokio::test(flavor = "multi_thread")]
async fn the_modes_of_tls_do_what_they_do_in_libpq() {
    let server = tokio::task::block_in_place(|| PrivateServer::start(ServerKind::Postgres));
    let (here, there) = (
        self_signed(&["127.0.0.1"]),
        self_signed(&["elsewhere.example.com"]),
    );
    let (own, other) = (root_file(&here.0), root_file(&there.0));
    let (own, other) = (own.path().display(), other.path().display());
    let url = |options: &str| format!("{}{options}", server.url);
    let check = async |is_let_in: bool, options: &str| {
        let answer = ask(&url(options)).await;
        assert_eq!(answer.is_ok(), is_let_in, "{options}: {answer:?}");
    };

    // A server without TLS.
    for (is_let_in, options) in [
        (true, ""),
        (true, "?sslmode=prefer"),
        (false, "?sslmode=require"),
        (true, "?sslmode=disable"),
    ] {
        check(is_let_in, options).await;
    }
    // One whose certificate is its own, and this host's.
    tokio::task::block_in_place(|| with_certificate(&server, &here.0, &here.1));
    for (is_let_in, options) in [
        (true, String::new()),
        (true, "?sslmode=prefer".to_owned()),
        (true, "?sslmode=require".to_owned()),
        (false, format!("?sslmode=require&sslrootcert={other}")),
        (true, format!("?sslmode=require&sslrootcert={own}")),
        (false, "?sslmode=verify-ca".to_owned()),
        (false, format!("?sslmode=verify-ca&sslrootcert={other}")),
        (true, format!("?sslmode=verify-ca&sslrootcert={own}")),
        (false, "?sslmode=verify-full".to_owned()),
        (true, format!("?sslmode=verify-full&sslrootcert={own}")),
        (false, "?sslmode=verify-fully".to_owned()),
        (false, "?sslmode=verify-ca&sslrootcert=/nowhere".to_owned()),
    ] {
        check(is_let_in, &options).await;
    }
    // Where nothing is said TLS is used, not only allowed.
    let store = {
        let settings = [("PILLARBOX__DATABASE__URL".to_owned(), url(""))].into();
        Store::new(&Config::with(settings).unwrap().database).unwrap()
    };
    let connection = store.connection().await.unwrap();
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'pillarbox'";
    assert_eq!(
        tokio::task::block_in_place(|| server.run_client(&["-c", encrypted])),
        "t"
    );
    drop(connection);
    // One whose certificate is another host's.
    tokio::task::block_in_place(|| with_certificate(&server, &there.0, &there.1));
    for (is_let_in, options) in [
        (true, String::new()),
        (true, format!("?sslmode=verify-ca&sslrootcert={other}")),
        (false, format!("?sslmode=verify-full&sslrootcert={other}")),
    ] {
        check(is_let_in, &options).await;
    }
}
