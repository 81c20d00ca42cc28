//! What carries the connection: TCP, and TLS over it when the broker's URL begins with `amqps`.

use std::future::Future;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_rs::traits::{Executor, Reactor, RuntimeKit};
use async_rs::util::Task;
use async_rs::{Runtime, Tokio};
use futures_io::{AsyncRead, AsyncWrite};
use futures_util::Stream;
use lapin::uri::{AMQPScheme, AMQPUri};
use lapin::{AsyncTcpStream, Connection, ConnectionProperties};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_util::compat::TokioAsyncReadCompatExt;

/// Opens a connection to the broker at this URL.
///
/// # Errors
/// When the URL cannot be read, or nobody who may be trusted answers there.
pub(crate) async fn open_connection(
    url: &str,
    properties: ConnectionProperties,
) -> lapin::Result<Connection> {
    let uri: AMQPUri = url
        .parse()
        .map_err(|reason: String| io::Error::new(io::ErrorKind::InvalidInput, reason))?;
    let runtime = Runtime::new(BrokerRuntime(Tokio::current()));
    let open = async |uri: AMQPUri, _: Runtime<BrokerRuntime>| {
        // Read at every connection: the system's certificates may have been renewed.
        let roots = || rustls_native_certs::load_native_certs().certs;
        Ok(AsyncTcpStream::Plain(open_stream(&uri, roots).await?))
    };
    Connection::connector(uri, runtime, open, properties).await
}

/// Connects, and shows the broker's certificate to be one for its host that `roots` vouch for when the URL asks for TLS.
async fn open_stream(
    uri: &AMQPUri,
    roots: impl FnOnce() -> Vec<CertificateDer<'static>>,
) -> io::Result<BrokerStream> {
    let host = uri.authority.host.as_str();
    let stream = TcpStream::connect((host, uri.authority.port)).await?;
    stream.set_nodelay(true)?;
    match uri.scheme {
        AMQPScheme::AMQP => Ok(Box::new(stream.compat())),
        AMQPScheme::AMQPS => {
            let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
            let stream = build_tls_connector(roots())?.connect(name, stream).await?;
            Ok(Box::new(stream.compat()))
        }
    }
}

fn build_tls_connector(roots: Vec<CertificateDer<'static>>) -> io::Result<TlsConnector> {
    let mut trusted = RootCertStore::empty();
    // Those that cannot be read are left out; a broker that needs them is refused, and the log says so.
    trusted.add_parsable_certificates(roots);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Bytes both ways.
type BrokerStream = Box<dyn DuplexBytes>;

/// What a connection is read from and written to.
trait DuplexBytes: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> DuplexBytes for S {}

/// Tokio as the client library wants it, but for what it calls a TCP stream: ours may be one with TLS.
#[derive(Debug, Clone)]
struct BrokerRuntime(Tokio);

impl RuntimeKit for BrokerRuntime {}

impl Executor for BrokerRuntime {
    type Task<T: Send + 'static> = <Tokio as Executor>::Task<T>;

    fn block_on<T, F: Future<Output = T>>(&self, future: F) -> T {
        self.0.block_on(future)
    }

    fn spawn<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
        &self,
        future: F,
    ) -> Task<Self::Task<T>> {
        self.0.spawn(future)
    }

    fn spawn_blocking<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        work: F,
    ) -> Task<Self::Task<T>> {
        self.0.spawn_blocking(work)
    }
}

impl Reactor for BrokerRuntime {
    type TcpStream = BrokerStream;
    type Sleep = <Tokio as Reactor>::Sleep;

    fn register<H: Read + Write + AsFd + AsRawFd + Send + 'static>(
        &self,
        socket: H,
    ) -> io::Result<impl AsyncRead + AsyncWrite + Send + Unpin + 'static> {
        self.0.register(socket)
    }

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        self.0.sleep(duration)
    }

    fn interval(&self, duration: Duration) -> impl Stream<Item = Instant> + Send + 'static {
        self.0.interval(duration)
    }

    fn tcp_connect_addr(
        &self,
        address: SocketAddr,
    ) -> impl Future<Output = io::Result<BrokerStream>> + Send + 'static {
        let connected = self.0.tcp_connect_addr(address);
        async move { Ok(Box::new(connected.await?) as BrokerStream) }
    }
}

#[cfg(test)]
mod tests {
    use rustls::ServerConfig;
    use rustls::pki_types::PrivateKeyDer;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;
    use tokio_util::compat::FuturesAsyncReadCompatExt;

    use super::*;

    /// A broker that says everything back over TLS, with a certificate of its own for this name. Its URL, and the certificate.
    async fn start_echo(name: &str) -> (String, CertificateDer<'static>) {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("amqps://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if let Ok(stream) = acceptor.accept(stream).await {
                    let (mut read, mut write) = tokio::io::split(stream);
                    tokio::spawn(async move { tokio::io::copy(&mut read, &mut write).await });
                }
            }
        });
        (url, certificate)
    }

    async fn open_with_roots(
        url: &str,
        roots: Vec<CertificateDer<'static>>,
    ) -> io::Result<BrokerStream> {
        open_stream(&url.parse().unwrap(), || roots).await
    }

    #[tokio::test]
    async fn amqps_is_tls_with_a_broker_whose_certificate_is_vouched_for() {
        let (url, certificate) = start_echo("127.0.0.1").await;
        let mut stream = open_with_roots(&url, vec![certificate])
            .await
            .unwrap()
            .compat();
        stream.write_all(b"AMQP").await.unwrap();
        stream.flush().await.unwrap();
        let mut echoed = [0; 4];
        stream.read_exact(&mut echoed).await.unwrap();
        assert_eq!(&echoed, b"AMQP");
    }

    #[tokio::test]
    async fn a_certificate_of_nobody_or_for_another_host_is_refused() {
        let (url, _) = start_echo("127.0.0.1").await;
        let (_, foreign) = start_echo("127.0.0.1").await;
        for roots in [Vec::new(), vec![foreign]] {
            let refused = open_with_roots(&url, roots)
                .await
                .err()
                .unwrap()
                .to_string();
            assert!(refused.contains("invalid peer certificate"), "{refused}");
        }
        let (url, certificate) = start_echo("elsewhere.example.com").await;
        let refused = open_with_roots(&url, vec![certificate])
            .await
            .err()
            .unwrap()
            .to_string();
        assert!(refused.contains("not valid for name"), "{refused}");
    }
}
