//! A mail server in this process that wants TLS and a password, as those of mail providers do.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// The name that its certificate is for.
pub(crate) const HOST: &str = "localhost";

const USER: &str = "pillarbox";

/// A password that cannot stand in a URL as it is.
const PASSWORD: &str = "p@ss/word";

/// How connections are made secure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpSecurity {
    /// From the first byte.
    Implicit,
    /// After STARTTLS. What needs security is refused before.
    StartTls,
    /// Never: STARTTLS is not offered.
    None,
}

/// A message that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedEmail {
    /// The envelope's recipients.
    pub recipients: Vec<String>,
    /// Headers and body.
    pub text: String,
}

/// A mail server.
pub struct SmtpServer {
    /// How to reach it, with user and password.
    pub url: String,
    /// Its certificate, in PEM.
    pub certificate: PathBuf,
    state: Arc<SmtpServerState>,
}

#[derive(Default)]
struct SmtpServerState {
    mailed: Mutex<Vec<ReceivedEmail>>,
    /// Messages still to be refused for now.
    refusals: AtomicUsize,
    /// Passwords that came, right or wrong.
    passwords: AtomicUsize,
}

impl SmtpServer {
    /// Starts one.
    pub async fn start(security: SmtpSecurity) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (acceptor, pem) = create_tls_acceptor();
        let certificate =
            std::env::temp_dir().join(format!("pillarbox-smtp-{}.pem", uuid::Uuid::now_v7()));
        std::fs::write(&certificate, pem).expect("the certificate is written");
        let state = Arc::<SmtpServerState>::default();
        let serving = state.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve_connection(
                    stream,
                    security,
                    acceptor.clone(),
                    serving.clone(),
                ));
            }
        });
        let (scheme, suffix) = match security {
            SmtpSecurity::Implicit => ("smtps", ""),
            SmtpSecurity::StartTls | SmtpSecurity::None => ("smtp", "?tls=required"),
        };
        let url = format!("{scheme}://{USER}:p%40ss%2Fword@{HOST}:{port}{suffix}");
        Self {
            url,
            certificate,
            state,
        }
    }

    /// Refuses so many messages for now, as a server does that is too busy.
    pub fn refuse_next(&self, messages: usize) {
        self.state.refusals.store(messages, Ordering::Relaxed);
    }

    /// What it took so far.
    pub fn received_emails(&self) -> Vec<ReceivedEmail> {
        self.state.mailed.lock().expect("no panic").clone()
    }

    /// How many refusals are left.
    pub fn refusals_left(&self) -> usize {
        self.state.refusals.load(Ordering::Relaxed)
    }

    /// How often it was told a password.
    pub fn count_passwords(&self) -> usize {
        self.state.passwords.load(Ordering::Relaxed)
    }
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.certificate);
    }
}

/// What makes connections secure, and the certificate for [`HOST`] that its clients are to trust.
pub(crate) fn create_tls_acceptor() -> (TlsAcceptor, String) {
    runtime::install_crypto();
    let made = rcgen::generate_simple_self_signed([HOST.to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("the certificate fits its key");
    (TlsAcceptor::from(Arc::new(config)), made.cert.pem())
}

async fn serve_connection(
    stream: TcpStream,
    security: SmtpSecurity,
    acceptor: TlsAcceptor,
    state: Arc<SmtpServerState>,
) {
    // A client that goes away in the middle is no failure of the server's.
    let _ = run_conversation(stream, security, acceptor, &state).await;
}

async fn run_conversation(
    stream: TcpStream,
    security: SmtpSecurity,
    acceptor: TlsAcceptor,
    state: &SmtpServerState,
) -> std::io::Result<()> {
    if security == SmtpSecurity::Implicit {
        let mut secure = BufStream::new(acceptor.accept(stream).await?);
        send_line(&mut secure, "220 test").await?;
        return SmtpSession {
            state,
            offers: "AUTH PLAIN LOGIN",
            is_trusted: false,
        }
        .run(&mut secure)
        .await
        .map(drop);
    }
    let mut open = BufStream::new(stream);
    send_line(&mut open, "220 test").await?;
    let offers = if security == SmtpSecurity::StartTls {
        "STARTTLS"
    } else {
        "SIZE 1000000"
    };
    if (SmtpSession {
        state,
        offers,
        is_trusted: false,
    })
    .run(&mut open)
    .await?
        == SmtpSessionEnd::StartTls
    {
        let mut secure = BufStream::new(acceptor.accept(open.into_inner()).await?);
        SmtpSession {
            state,
            offers: "AUTH PLAIN LOGIN",
            is_trusted: false,
        }
        .run(&mut secure)
        .await?;
    }
    Ok(())
}

async fn send_line<S: AsyncWrite + Unpin>(stream: &mut S, line: &str) -> std::io::Result<()> {
    stream.write_all(format!("{line}\r\n").as_bytes()).await?;
    stream.flush().await
}

/// Why the commands ended.
#[derive(PartialEq, Eq)]
enum SmtpSessionEnd {
    Quit,
    StartTls,
}

/// The commands over one connection, before or after it became secure.
struct SmtpSession<'a> {
    state: &'a SmtpServerState,
    /// What it can do, in the words of EHLO's answer.
    offers: &'static str,
    /// Whether the right password came.
    is_trusted: bool,
}

impl SmtpSession<'_> {
    async fn run<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        stream: &mut BufStream<S>,
    ) -> std::io::Result<SmtpSessionEnd> {
        let (mut line, mut recipients) = (String::new(), Vec::new());
        loop {
            line.clear();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(SmtpSessionEnd::Quit);
            }
            let (verb, rest) = line
                .trim_end()
                .split_once([' ', ':'])
                .unwrap_or((line.trim_end(), ""));
            let answer = match verb.to_ascii_uppercase().as_str() {
                "EHLO" => format!("250-test\r\n250 {}", self.offers),
                "STARTTLS" if self.offers == "STARTTLS" => {
                    send_line(stream, "220 go on").await?;
                    return Ok(SmtpSessionEnd::StartTls);
                }
                "AUTH" => self.check_password(rest).to_owned(),
                "MAIL" if !self.is_trusted => "530 a password is needed".to_owned(),
                "MAIL" if self.is_refused() => "451 too busy".to_owned(),
                "MAIL" => "250 ok".to_owned(),
                "RCPT" => {
                    let address = rest.trim_start_matches("TO:").trim_matches(['<', '>']);
                    recipients.push(address.to_owned());
                    "250 ok".to_owned()
                }
                "DATA" => {
                    send_line(stream, "354 go on").await?;
                    let text = read_data(stream).await?;
                    let recipients = std::mem::take(&mut recipients);
                    self.state
                        .mailed
                        .lock()
                        .expect("no panic")
                        .push(ReceivedEmail { recipients, text });
                    "250 taken".to_owned()
                }
                "QUIT" => {
                    send_line(stream, "221 bye").await?;
                    return Ok(SmtpSessionEnd::Quit);
                }
                "NOOP" | "RSET" => "250 ok".to_owned(),
                _ => "502 unknown".to_owned(),
            };
            send_line(stream, &answer).await?;
        }
    }

    fn check_password(&mut self, rest: &str) -> &'static str {
        self.state.passwords.fetch_add(1, Ordering::Relaxed);
        let expected = STANDARD.encode(format!("\0{USER}\0{PASSWORD}"));
        self.is_trusted = rest == format!("PLAIN {expected}");
        if self.is_trusted {
            "235 welcome"
        } else {
            "535 wrong password"
        }
    }

    fn is_refused(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        self.state
            .refusals
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
            .is_ok()
    }
}

/// A message up to the line with a single dot.
async fn read_data<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut BufStream<S>,
) -> std::io::Result<String> {
    let mut text = String::new();
    while !text.ends_with("\r\n.\r\n") {
        if stream.read_line(&mut text).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    text.truncate(text.len() - 3);
    Ok(text)
}
