//! Asking.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST, LOCATION};
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Body;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::Host;

use crate::policy::{TargetPolicy, TargetPolicyError};
use crate::pool::{ConnectionKey, ConnectionPool, ConnectionSender};
use crate::target::TargetUrl;

/// Time to connect to one address, TLS included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Addresses of a host that are tried.
const CONNECT_ATTEMPTS: usize = 2;

/// Headers of an answer at the most.
const MAX_HEADERS: usize = 64;

/// Bytes of an answer's headers, and of what is read ahead of its body.
const MAX_BUFFER_BYTES: usize = 32 * 1024;

/// Bytes of a body that are read and thrown away so that the connection can be used again; past it the connection
/// is closed instead.
const DRAINED_BYTES: usize = 64 * 1024;

/// Redirects that a GET follows.
const REDIRECTS: usize = 3;

/// A client for hosts that nobody vouches for. Clones share its connections.
#[derive(Clone)]
pub struct OutboundClient {
    policy: TargetPolicy,
    tls: TlsConnector,
    pool: Arc<ConnectionPool>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboundResponse {
    /// The status.
    pub status: u16,
    /// The first bytes of the body, as many as were asked for.
    pub body: Vec<u8>,
}

/// Why nothing came back. The sentences are for the owner of the URL.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// The host may not be connected to.
    #[error(transparent)]
    Refused(#[from] TargetPolicyError),
    /// No connection.
    #[error("{}", connect_words(.0))]
    Connect(std::io::Error),
    /// No TLS connection, for instance because of the certificate.
    #[error("no secure connection: {0}")]
    Tls(std::io::Error),
    /// The connection was lost or what came over it was no HTTP.
    #[error("no valid answer: {0}")]
    Http(hyper::Error),
    /// Not all of the answer was there in time.
    #[error("no answer within {} seconds", .0.as_secs_f64())]
    Timeout(Duration),
    /// The answer to a GET is larger than what is read of it.
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
    /// A GET was sent on too often, or to what is no URL.
    #[error("the redirects lead nowhere")]
    Redirects,
    /// A GET was sent on to another host, and failed there: the fault is not the first host's.
    #[error("the redirect to {host} failed: {error}")]
    Elsewhere {
        /// The name of the host that it was sent on to.
        host: String,
        /// What failed there.
        #[source]
        error: Box<Self>,
    },
}

/// Why there is no connection, for people.
fn connect_words(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::ConnectionRefused => {
            "the connection was refused: nothing listens at that address".to_owned()
        }
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => {
            "the connection was cut off".to_owned()
        }
        ErrorKind::TimedOut => "no connection in time".to_owned(),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
            "the host cannot be reached".to_owned()
        }
        _ => format!("cannot connect: {error}"),
    }
}

/// The client cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("TLS cannot be set up: {0}")]
pub struct OutboundSettingsError(#[from] rustls::Error);

impl OutboundClient {
    /// A client that connects where `policy` lets it, and trusts the system's certificates.
    ///
    /// # Errors
    /// [`OutboundSettingsError`] when the cryptography cannot be set up.
    pub fn new(policy: TargetPolicy) -> Result<Self, OutboundSettingsError> {
        let mut roots = rustls::RootCertStore::empty();
        // Certificates that cannot be read are left out; a host that needs them then fails and says so.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            policy,
            tls: TlsConnector::from(Arc::new(config)),
            pool: Arc::default(),
        })
    }

    /// Posts a body and reads the answer, all within `timeout`; of the answer's body `kept_bytes` are kept.
    ///
    /// # Errors
    /// [`OutboundError`]; any status is an answer.
    pub async fn post(
        &self,
        target: &TargetUrl,
        headers: HeaderMap,
        body: Bytes,
        kept_bytes: usize,
        timeout: Duration,
    ) -> Result<OutboundResponse, OutboundError> {
        let request = OutboundRequest {
            method: Method::POST,
            target,
            headers,
            body,
        };
        let answered = tokio::time::timeout(timeout, async {
            let answer = self.send_request(&request).await?;
            self.read_body(answer, kept_bytes, DRAINED_BYTES).await
        });
        let (response, _) = answered
            .await
            .map_err(|_| OutboundError::Timeout(timeout))??;
        Ok(response)
    }

    /// Gets what is at a URL, all within `timeout`: follows up to three redirects, each to a host that may be
    /// connected to, and reads a body of `most_bytes` at the most.
    ///
    /// # Errors
    /// [`OutboundError`]; any status but a redirect is an answer.
    pub async fn get(
        &self,
        target: &TargetUrl,
        headers: HeaderMap,
        most_bytes: usize,
        timeout: Duration,
    ) -> Result<OutboundResponse, OutboundError> {
        let mut at = target.clone();
        let answered = tokio::time::timeout(
            timeout,
            self.follow_redirects(&mut at, &headers, most_bytes),
        )
        .await;
        let answered = answered.unwrap_or(Err(OutboundError::Timeout(timeout)));
        answered.map_err(|error| {
            if at.host_and_port() == target.host_and_port() {
                return error;
            }
            OutboundError::Elsewhere {
                host: at.host_name(),
                error: Box::new(error),
            }
        })
    }

    /// Closes connections that nobody has used for a while.
    pub fn close_idle(&self) {
        self.pool.close_idle();
    }

    /// Leaves in `target` how far it came.
    async fn follow_redirects(
        &self,
        target: &mut TargetUrl,
        headers: &HeaderMap,
        most_bytes: usize,
    ) -> Result<OutboundResponse, OutboundError> {
        for _ in 0..=REDIRECTS {
            let request = OutboundRequest {
                method: Method::GET,
                target,
                headers: headers.clone(),
                body: Bytes::new(),
            };
            let answered = self.send_request(&request).await?;
            if !answered.is_redirect() {
                // What a host says of its length is believed only when it is too much.
                if answered.response.body().size_hint().lower() > most_bytes as u64 {
                    return Err(OutboundError::TooLarge(most_bytes));
                }
                let (response, is_whole) = self.read_body(answered, most_bytes, most_bytes).await?;
                return if is_whole {
                    Ok(response)
                } else {
                    Err(OutboundError::TooLarge(most_bytes))
                };
            }
            let next = answered
                .response
                .headers()
                .get(LOCATION)
                .and_then(|next| next.to_str().ok());
            *target = next
                .and_then(|next| target.join(next))
                .ok_or(OutboundError::Redirects)?;
        }
        Err(OutboundError::Redirects)
    }

    async fn send_request(
        &self,
        request: &OutboundRequest<'_>,
    ) -> Result<UnreadResponse, OutboundError> {
        // Resolved and checked every time: a kept connection is only used while its address is still the host's.
        let addresses = self.policy.resolve(request.target).await?;
        for address in &addresses {
            let place = request.connection_key(*address);
            if let Some(mut sender) = self.pool.take_connection(&place)
                && sender.ready().await.is_ok()
                && let Ok(response) = sender.send_request(request.build()).await
            {
                return Ok(UnreadResponse {
                    place,
                    sender,
                    response,
                });
            }
            // A kept connection that failed was closed by the other side meanwhile: ask on a new one.
        }
        let (place, mut sender) = self.connect(request, &addresses).await?;
        let response = sender
            .send_request(request.build())
            .await
            .map_err(OutboundError::Http)?;
        Ok(UnreadResponse {
            place,
            sender,
            response,
        })
    }

    async fn connect(
        &self,
        request: &OutboundRequest<'_>,
        addresses: &[SocketAddr],
    ) -> Result<(ConnectionKey, ConnectionSender), OutboundError> {
        let mut last = OutboundError::Refused(TargetPolicyError::Unresolved);
        for address in addresses.iter().take(CONNECT_ATTEMPTS) {
            match tokio::time::timeout(CONNECT_TIMEOUT, self.open_connection(request, *address))
                .await
            {
                Ok(Ok(sender)) => return Ok((request.connection_key(*address), sender)),
                Ok(Err(error)) => last = error,
                Err(_) => last = OutboundError::Connect(std::io::ErrorKind::TimedOut.into()),
            }
        }
        Err(last)
    }

    async fn open_connection(
        &self,
        request: &OutboundRequest<'_>,
        address: SocketAddr,
    ) -> Result<ConnectionSender, OutboundError> {
        let stream = TcpStream::connect(address)
            .await
            .map_err(OutboundError::Connect)?;
        // Requests are written whole; waiting to fill a packet would only delay them.
        let _ = stream.set_nodelay(true);
        if !request.target.is_https() {
            return perform_handshake(stream).await;
        }
        let name = server_name(request.target.host()).map_err(OutboundError::Tls)?;
        perform_handshake(
            self.tls
                .connect(name, stream)
                .await
                .map_err(OutboundError::Tls)?,
        )
        .await
    }

    /// Reads a body of `read_bytes` at the most, and keeps the first `kept_bytes` of it. Says whether that was all; if it was
    /// not, the connection is closed.
    async fn read_body(
        &self,
        answered: UnreadResponse,
        kept_bytes: usize,
        read_bytes: usize,
    ) -> Result<(OutboundResponse, bool), OutboundError> {
        let UnreadResponse {
            place,
            sender,
            response,
        } = answered;
        let status = response.status().as_u16();
        let mut body = response.into_body();
        let (mut kept, mut read) = (Vec::new(), 0);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(OutboundError::Http)?.into_data() else {
                continue;
            };
            read += data.len();
            kept.extend_from_slice(&data[..data.len().min(kept_bytes - kept.len())]);
            if read > read_bytes {
                // Dropping the sender and the body closes the connection.
                return Ok((OutboundResponse { status, body: kept }, false));
            }
        }
        self.pool.keep_connection(place, sender);
        Ok((OutboundResponse { status, body: kept }, true))
    }
}

/// An answer whose body has not been read.
struct UnreadResponse {
    place: ConnectionKey,
    sender: ConnectionSender,
    response: Response<Incoming>,
}

impl UnreadResponse {
    fn is_redirect(&self) -> bool {
        matches!(self.response.status().as_u16(), 301 | 302 | 303 | 307 | 308)
    }
}

/// A request, which may be built a second time for a second connection.
struct OutboundRequest<'a> {
    method: Method,
    target: &'a TargetUrl,
    headers: HeaderMap,
    body: Bytes,
}

impl OutboundRequest<'_> {
    fn connection_key(&self, address: SocketAddr) -> ConnectionKey {
        ConnectionKey {
            name: self.target.host().to_string(),
            is_tls: self.target.is_https(),
            address,
        }
    }

    fn build(&self) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        // A URL's path is a path; a URL that were none would be answered with 404 or 400.
        *request.uri_mut() = self
            .target
            .path_and_query()
            .parse()
            .unwrap_or_else(|_| Uri::from_static("/"));
        *request.headers_mut() = self.headers.clone();
        if let Ok(host) = HeaderValue::from_str(&self.target.host_header()) {
            request.headers_mut().insert(HOST, host);
        }
        if self.method == Method::POST {
            request
                .headers_mut()
                .insert(CONTENT_LENGTH, HeaderValue::from(self.body.len()));
        }
        request
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a connection outlives the request that opened it"
)]
async fn perform_handshake<S>(stream: S) -> Result<ConnectionSender, OutboundError>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_BUFFER_BYTES);
    let (sender, connection) = builder
        .handshake(TokioIo::new(stream))
        .await
        .map_err(OutboundError::Http)?;
    // Ends when the sender is dropped or the other side closes; its error comes to the request's caller.
    tokio::spawn(connection);
    Ok(sender)
}

fn server_name(host: &Host) -> std::io::Result<ServerName<'static>> {
    match host {
        Host::Ipv4(address) => Ok(ServerName::from(std::net::IpAddr::V4(*address))),
        Host::Ipv6(address) => Ok(ServerName::from(std::net::IpAddr::V6(*address))),
        Host::Domain(name) => ServerName::try_from(name.clone()).map_err(std::io::Error::other),
    }
}
