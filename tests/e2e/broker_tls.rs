//! A broker whose URL begins with `amqps`.

use std::sync::Arc;

use pillarbox_tests::{SpawnedProcess, StackOptions, TestStack, build_recipient, wait_until};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// The broker's setting.
const BROKER_URL: &str = "PILLARBOX__BROKER__URL";

/// Speaks TLS for a broker that does not, at a port of its own; gives the port, and the certificate as PEM.
async fn speak_tls_for(broker: String) -> (u16, String) {
    runtime::install_crypto();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, broker) = (acceptor.clone(), broker.clone());
            tokio::spawn(async move {
                let mut outside = acceptor.accept(stream).await?;
                let mut inside = TcpStream::connect(broker).await?;
                tokio::io::copy_bidirectional(&mut outside, &mut inside).await
            });
        }
    });
    (port, made.cert.pem())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mailer_that_trusts_the_brokers_certificate_works_over_tls_and_another_does_not() {
    let stack = TestStack::with_options(StackOptions {
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let plain = &stack.settings[BROKER_URL];
    let (credentials, place) = plain.rsplit_once('@').unwrap();
    let (host_and_port, path) = place.split_once('/').unwrap();
    let (port, certificate) = speak_tls_for(host_and_port.to_owned()).await;
    let secure = credentials.replacen("amqp://", "amqps://", 1);
    let mut settings = stack.settings.clone();
    settings.insert(
        BROKER_URL.to_owned(),
        format!("{secure}@localhost:{port}/{path}"),
    );

    let (_distrustful, log) = SpawnedProcess::start_logged("mailer", &settings);
    wait_until("the certificate is refused", async || {
        log.text().contains("invalid peer certificate")
    })
    .await;
    let (status, code) = stack.send_recipients(&[build_recipient(1)]).await.error();
    assert_eq!((status, code.as_str()), (500, "internal_error"));

    let trusted = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(trusted.path(), certificate).unwrap();
    let trusted = trusted.path().display().to_string();
    settings.insert("SSL_CERT_FILE".to_owned(), trusted);
    let _trustful = SpawnedProcess::start("mailer", &settings, None);
    wait_until("a send is answered", async || {
        stack.send_recipients(&[build_recipient(1)]).await.status == 200
    })
    .await;
}
