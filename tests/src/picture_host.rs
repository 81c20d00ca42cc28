//! A host with pictures, some of which are none.

use std::collections::HashMap;
use std::io::Cursor;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use image::{ImageFormat, RgbImage};
use tokio::net::{TcpListener, TcpStream};

use crate::smtp::{HOST, create_tls_acceptor};

/// How long `/slow` takes.
const SLOW: std::time::Duration = std::time::Duration::from_secs(2);

/// A host with pictures. What it answers is in the path:
/// `/picture/NAME` a PNG of its own for each name, `/slow/NAME` the same after two seconds, `/jpeg/NAME` a JPEG,
/// `/half/NAME` its first half, `/status/CODE` that status, `/hang` nothing
/// ever, `/endless` a body without end, `/bomb` a PNG of 400 million pixels, `/text` no picture, `/to/URL` a redirect.
#[derive(Clone)]
pub struct PictureHost {
    address: SocketAddr,
    state: Arc<HostState>,
}

/// The same over https, as `localhost`.
pub struct SecurePictureHost {
    address: SocketAddr,
    /// The file with the certificate that clients are to trust.
    pub certificate: tempfile::NamedTempFile,
}

impl SecurePictureHost {
    /// Starts one.
    pub async fn start() -> Self {
        let behind = PictureHost::start().await.address;
        let (acceptor, certificate) = create_tls_acceptor();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                // A client that does not trust us goes away, which is no failure of ours.
                tokio::spawn(async move {
                    let mut secure = acceptor.accept(stream).await?;
                    let mut plain = TcpStream::connect(behind).await?;
                    tokio::io::copy_bidirectional(&mut secure, &mut plain).await
                });
            }
        });
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), certificate).expect("a certificate");
        Self {
            address,
            certificate: file,
        }
    }

    /// A link to what is at this path, as on a [`PictureHost`].
    pub fn link(&self, path: &str) -> String {
        format!("https://{HOST}:{}{path}", self.address.port())
    }
}

#[derive(Default)]
struct HostState {
    asked: Mutex<HashMap<String, usize>>,
    is_down: AtomicBool,
}

impl PictureHost {
    /// Starts one on 127.0.0.1.
    pub async fn start() -> Self {
        Self::start_on("127.0.0.1").await
    }

    /// Starts one on this address of the machine.
    pub async fn start_on(host: &str) -> Self {
        let listener = TcpListener::bind((host, 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::<HostState>::default();
        let router = Router::new()
            .fallback(answer_request)
            .with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.expect("the host runs") });
        Self { address, state }
    }

    /// A link to what is at this path, over plain http.
    pub fn link(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// From now on it answers with 503.
    pub fn go_down(&self) {
        self.state.is_down.store(true, Ordering::Relaxed);
    }

    /// How often a path was asked for.
    pub fn count_requests(&self, path: &str) -> usize {
        self.state
            .asked
            .lock()
            .expect("no panic")
            .get(path)
            .copied()
            .unwrap_or(0)
    }

    /// How often anything was asked for.
    pub fn count_all_requests(&self) -> usize {
        self.state.asked.lock().expect("no panic").values().sum()
    }
}

async fn answer_request(State(state): State<Arc<HostState>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    *state
        .asked
        .lock()
        .expect("no panic")
        .entry(path.clone())
        .or_default() += 1;
    if state.is_down.load(Ordering::Relaxed) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let (kind, name) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
    match kind {
        "picture" => encode_picture(name, ImageFormat::Png).into_response(),
        "slow" => {
            tokio::time::sleep(SLOW).await;
            encode_picture(name, ImageFormat::Png).into_response()
        }
        "half" => {
            let mut content = encode_picture(name, ImageFormat::Jpeg);
            content.truncate(content.len() / 2);
            content.into_response()
        }
        "jpeg" => encode_picture(name, ImageFormat::Jpeg).into_response(),
        "status" => StatusCode::from_u16(name.parse().expect("a status"))
            .expect("a status")
            .into_response(),
        "hang" => std::future::pending().await,
        "endless" => {
            let piece = || Some(Ok::<_, std::io::Error>(Bytes::from_static(&[0; 65_536])));
            Body::from_stream(stream::iter(std::iter::from_fn(piece))).into_response()
        }
        "bomb" => encode_oversized_png().into_response(),
        "to" => (StatusCode::FOUND, [("location", name.to_owned())]).into_response(),
        _ => "no picture".into_response(),
    }
}

/// A small picture that differs by name.
fn encode_picture(name: &str, format: ImageFormat) -> Vec<u8> {
    let shade = name
        .bytes()
        .fold(0_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte));
    let picture = RgbImage::from_fn(8, 8, |x, y| image::Rgb([shade, x as u8 * 30, y as u8 * 30]));
    let mut content = Cursor::new(Vec::new());
    picture.write_to(&mut content, format).expect("a picture");
    content.into_inner()
}

/// A small PNG whose header says 20,000 by 20,000 pixels.
fn encode_oversized_png() -> Vec<u8> {
    let mut content = encode_picture("bomb", ImageFormat::Png);
    content[16..24].copy_from_slice(&[0, 0, 0x4e, 0x20, 0, 0, 0x4e, 0x20]);
    let sum = png_crc(&content[12..29]);
    content[29..33].copy_from_slice(&sum.to_be_bytes());
    content
}

/// The checksum of PNG's chunks (ISO 3309).
fn png_crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 {
                (sum >> 1) ^ 0xEDB8_8320
            } else {
                sum >> 1
            }
        })
    })
}
