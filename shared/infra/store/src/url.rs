//! The database's URL: what `sslmode` and `sslrootcert` mean is what they mean to libpq 16.

use std::borrow::Cow;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Result, StoreError};

/// How a URL of a database begins.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// The value of `sslrootcert` that stands for the certificates that the system trusts.
const SYSTEM_ROOTS: &str = "system";

/// Where the database is, and how to speak TLS with it.
pub(crate) struct DatabaseUrl {
    pub(crate) config: Config,
    pub(crate) tls: MakeRustlsConnect,
    /// TLS is insisted on, and any certificate will do: somebody may believe that the server is known by it.
    pub(crate) takes_any_certificate: bool,
}

/// What is asked of the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CertificateCheck {
    /// Nothing: TLS keeps listeners out, and no impostor.
    Nothing,
    /// That it comes from somebody who is trusted.
    Issuer,
    /// That, and that it is this host's.
    IssuerAndName,
}

impl DatabaseUrl {
    /// Reads a `postgres://` URL.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] when it cannot be used; the text says why.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        // The driver reads pairs of names and values, too, but of their `sslmode` only what it can do itself.
        if !SCHEMES.iter().any(|scheme| url.starts_with(scheme)) {
            return Err(unusable_url(
                "url must be like postgres://user@host/database?sslmode=verify-full",
            ));
        }
        let (rest, [mode, roots]) = remove_parameters(url, ["sslmode", "sslrootcert"]);
        let mut config = Config::from_str(&rest).map_err(unusable_url)?;
        let roots = roots.as_deref().filter(|roots| !roots.is_empty());
        let (ssl_mode, check) = resolve_ssl_mode(mode.as_deref(), roots)?;
        config.ssl_mode(ssl_mode);
        let provider = Arc::new(ring::default_provider());
        let verifier =
            CertificateVerifier::new(check, roots.unwrap_or(SYSTEM_ROOTS), provider.clone())?;
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(unusable_url)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        let takes_any_certificate =
            (ssl_mode, check) == (SslMode::Require, CertificateCheck::Nothing);
        Ok(Self {
            config,
            tls: MakeRustlsConnect::new(client),
            takes_any_certificate,
        })
    }
}

fn unusable_url(error: impl std::fmt::Display) -> StoreError {
    StoreError::Unusable(error.to_string())
}

/// Takes parameters out of a URL. Of one that is given several times the last holds.
fn remove_parameters<const N: usize>(url: &str, names: [&str; N]) -> (String, [Option<String>; N]) {
    let mut found = [const { None }; N];
    // A question mark before the host is one of the password.
    let (credentials, place) = url.split_at(url.find('@').unwrap_or(0));
    let Some((place, query)) = place.split_once('?') else {
        return (url.to_owned(), found);
    };
    let mut kept = Vec::new();
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        match names
            .iter()
            .position(|known| *known == decode_percent(name))
        {
            Some(index) => found[index] = Some(decode_percent(value).into_owned()),
            None => kept.push(parameter),
        }
    }
    let separator = if kept.is_empty() { "" } else { "?" };
    (
        format!("{credentials}{place}{separator}{}", kept.join("&")),
        found,
    )
}

fn decode_percent(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// What libpq takes the two parameters to mean. Where it would look for certificates in the user's home, and where it would refuse for
/// lack of them, this trusts whom the system trusts.
fn resolve_ssl_mode(
    mode: Option<&str>,
    roots: Option<&str>,
) -> Result<(SslMode, CertificateCheck)> {
    // Anybody can have a certificate that the system trusts: only the name tells whose it is.
    let needs_name = roots == Some(SYSTEM_ROOTS);
    match mode.unwrap_or(if needs_name { "verify-full" } else { "prefer" }) {
        weak @ ("disable" | "prefer" | "require" | "verify-ca") if needs_name => {
            Err(unusable_url(format!(
                "sslmode is {weak}, which is too weak for sslrootcert=system: it must be verify-full"
            )))
        }
        "disable" => Ok((SslMode::Disable, CertificateCheck::Nothing)),
        "prefer" => Ok((SslMode::Prefer, CertificateCheck::Nothing)),
        // Somebody who names the issuers wants them heeded.
        "require" if roots.is_some() => Ok((SslMode::Require, CertificateCheck::Issuer)),
        "require" => Ok((SslMode::Require, CertificateCheck::Nothing)),
        "verify-ca" => Ok((SslMode::Require, CertificateCheck::Issuer)),
        "verify-full" => Ok((SslMode::Require, CertificateCheck::IssuerAndName)),
        other => Err(unusable_url(format!(
            "sslmode is {other}; it can be disable, prefer, require, verify-ca or verify-full"
        ))),
    }
}

/// The certificates that are trusted.
fn load_trusted_certificates(roots: &str) -> Result<Vec<CertificateDer<'static>>> {
    let loaded = if roots == SYSTEM_ROOTS {
        rustls_native_certs::load_native_certs()
    } else {
        rustls_native_certs::load_certs_from_paths(Some(Path::new(roots)), None)
    };
    match loaded.errors.first() {
        Some(error) if loaded.certs.is_empty() => {
            Err(unusable_url(format!("sslrootcert: {error}")))
        }
        // Those that cannot be read are left out; a connection that needs them fails and says so.
        _ => Ok(loaded.certs),
    }
}

/// Checks what a mode asks for, and no more.
#[derive(Debug)]
struct CertificateVerifier {
    check: CertificateCheck,
    provider: Arc<CryptoProvider>,
    trusted: Vec<CertificateDer<'static>>,
    /// `None` when nothing is checked.
    chains: Option<Arc<WebPkiServerVerifier>>,
}

impl CertificateVerifier {
    fn new(check: CertificateCheck, roots: &str, provider: Arc<CryptoProvider>) -> Result<Self> {
        if check == CertificateCheck::Nothing {
            return Ok(Self {
                check,
                provider,
                trusted: Vec::new(),
                chains: None,
            });
        }
        let trusted = load_trusted_certificates(roots)?;
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(trusted.iter().cloned());
        let chains =
            WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone()).build();
        Ok(Self {
            check,
            provider,
            trusted,
            chains: Some(chains.map_err(unusable_url)?),
        })
    }

    /// A server's own certificate may be the one that is trusted, also when it is marked as an issuer's, as `openssl req -x509`
    /// makes them. Its time was looked at before it was refused for that mark.
    fn is_trusted_itself(&self, error: &Error, certificate: &CertificateDer<'_>) -> bool {
        matches!(error, Error::InvalidCertificate(CertificateError::Other(_)))
            && self.trusted.iter().any(|trusted| trusted == certificate)
    }
}

impl ServerCertVerifier for CertificateVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, Error> {
        let Some(chains) = &self.chains else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified =
            chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // The name is what is looked at last.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.check == CertificateCheck::Issuer => Ok(ServerCertVerified::assertion()),
            Err(error) if self.is_trusted_itself(&error, end_entity) => {
                if self.check == CertificateCheck::IssuerAndName {
                    let certificate = ParsedCertificate::try_from(end_entity)?;
                    rustls::client::verify_server_name(&certificate, server_name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modes_mean_what_they_mean_to_libpq() {
        for (mode, roots, expected) in [
            (None, None, (SslMode::Prefer, CertificateCheck::Nothing)),
            (
                None,
                Some("ca.pem"),
                (SslMode::Prefer, CertificateCheck::Nothing),
            ),
            (
                Some("disable"),
                None,
                (SslMode::Disable, CertificateCheck::Nothing),
            ),
            (
                Some("require"),
                None,
                (SslMode::Require, CertificateCheck::Nothing),
            ),
            (
                Some("require"),
                Some("ca.pem"),
                (SslMode::Require, CertificateCheck::Issuer),
            ),
            (
                Some("verify-ca"),
                None,
                (SslMode::Require, CertificateCheck::Issuer),
            ),
            (
                Some("verify-full"),
                None,
                (SslMode::Require, CertificateCheck::IssuerAndName),
            ),
            (
                Some("verify-full"),
                Some("system"),
                (SslMode::Require, CertificateCheck::IssuerAndName),
            ),
            (
                None,
                Some("system"),
                (SslMode::Require, CertificateCheck::IssuerAndName),
            ),
        ] {
            assert_eq!(
                resolve_ssl_mode(mode, roots).ok(),
                Some(expected),
                "{mode:?} {roots:?}"
            );
        }
        let error = resolve_ssl_mode(Some("verify-fully"), None)
            .err()
            .map(|error| error.to_string());
        assert!(error.is_some_and(|text| text.contains("sslmode is verify-fully")));
        for weak in ["disable", "prefer", "require", "verify-ca"] {
            let error = resolve_ssl_mode(Some(weak), Some("system"))
                .err()
                .map(|error| error.to_string());
            assert!(
                error.is_some_and(|text| text.contains("must be verify-full")),
                "{weak}"
            );
        }
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for text in [
            "host=db sslmode=verify-full",
            "sslmode=require host=db user=a",
            "db:5432/c",
            "",
        ] {
            let error = DatabaseUrl::parse(text)
                .err()
                .map(|error| error.to_string());
            assert!(
                error.is_some_and(|text| text.contains("url must be like postgres://")),
                "{text}"
            );
        }
        assert!(DatabaseUrl::parse("postgresql://a@b/c?sslmode=disable").is_ok());
    }

    #[test]
    fn only_require_without_roots_looks_as_if_it_knew_the_server() {
        for (query, expected) in [
            ("", false),
            ("?sslmode=disable", false),
            ("?sslmode=prefer", false),
            ("?sslmode=require", true),
        ] {
            let url = DatabaseUrl::parse(&format!("postgres://a@b/c{query}")).ok();
            assert_eq!(
                url.map(|url| url.takes_any_certificate),
                Some(expected),
                "{query}"
            );
        }
    }

    #[test]
    fn parameters_are_taken_out_of_a_url_and_others_stay() {
        let names = ["sslmode", "sslrootcert"];
        let taken = |url| {
            let (rest, [mode, roots]) = remove_parameters(url, names);
            (rest, mode.unwrap_or_default(), roots.unwrap_or_default())
        };
        for (url, rest, mode, roots) in [
            ("postgres://a@b/c", "postgres://a@b/c", "", ""),
            (
                "postgres://a@b/c?sslmode=disable",
                "postgres://a@b/c",
                "disable",
                "",
            ),
            (
                "postgres://a@b/c?sslmode=require&connect_timeout=3&sslrootcert=x",
                "postgres://a@b/c?connect_timeout=3",
                "require",
                "x",
            ),
            // The last holds.
            (
                "postgres://b/c?sslmode=prefer&sslmode=verify-full",
                "postgres://b/c",
                "verify-full",
                "",
            ),
            (
                "postgres://b/c?ssl%6Dode=verify%2Dca&sslrootcert=%2Fx%20y",
                "postgres://b/c",
                "verify-ca",
                "/x y",
            ),
            (
                "postgres://a:p?q@b/c?sslmode=require",
                "postgres://a:p?q@b/c",
                "require",
                "",
            ),
        ] {
            assert_eq!(
                taken(url),
                (rest.to_owned(), mode.to_owned(), roots.to_owned()),
                "{url}"
            );
        }
    }
}
