//! Bodies that come compressed: which encodings are taken, and how they are expanded within bounds.
//!
//! What is hostile about a compressed body is what it becomes, so every loop here ends at the limit of a body, whatever the stream
//! declares.

use std::io::{BufRead, Read};

use axum::http::{HeaderMap, HeaderValue, header};
use flate2::bufread::MultiGzDecoder;
use model::limits::BODY_BYTES;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::admission::AdmissionError;

/// The encodings that are taken, as an answer lists them.
pub(crate) const ACCEPTED_ENCODINGS: HeaderValue = HeaderValue::from_static("gzip, zstd");

/// Bytes that a step expands.
const STEP_BYTES: usize = 64 * 1024;

/// The largest window of zstd: what a receiver of HTTP has to have at the least (RFC 9659), and nearly twice a body.
const ZSTD_WINDOW_BYTES: u64 = 8 * 1024 * 1024;

/// Frames of a zstd body: programs that compress in parallel make one for each part. Each costs tables, however little is in it.
const ZSTD_FRAMES: usize = 64;

/// Blocks of a zstd body: one for each 128 KB, or for each time that its sender flushed. Each costs tables, too.
const ZSTD_BLOCKS: usize = 10_000;

/// Why a body cannot be read.
const BAD_GZIP: &str =
    "The body cannot be read: it is not gzip, as Content-Encoding says, or was cut off.";
const BAD_ZSTD: &str =
    "The body cannot be read: it is not zstd, as Content-Encoding says, or was cut off.";
const WIDE_ZSTD: &str = "The body cannot be read: its zstd window is over 8 MB.";
const CHOPPED_ZSTD: &str =
    "The body cannot be read: it has more than 64 frames, or 10000 blocks, of zstd.";

/// How a body was encoded on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyEncoding {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

impl BodyEncoding {
    /// Reads `Content-Encoding`; `None` without one. Errors: [`AdmissionError::UnsupportedEncoding`] for one that is not taken, and for
    /// several: each would be expanded in turn.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Option<Self>, AdmissionError> {
        let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
        let Some(value) = values.next() else {
            return Ok(None);
        };
        let name = value.to_str().unwrap_or("?").trim().to_ascii_lowercase();
        match name.as_str() {
            _ if values.next().is_some() => Err(AdmissionError::UnsupportedEncoding),
            "" | "identity" => Ok(None),
            // The older name means the same (RFC 9110, section 8.4.1.3).
            "gzip" | "x-gzip" => Ok(Some(Self::Gzip)),
            "zstd" => Ok(Some(Self::Zstd)),
            _ => Err(AdmissionError::UnsupportedEncoding),
        }
    }

    /// What the bytes were before they were encoded; nothing of nothing. Holds the decoder's memory beside the result: about 13 MB of
    /// zstd at the most. Errors: [`AdmissionError::BodyTooLarge`] as soon as it passes the limit of a body,
    /// [`AdmissionError::BodyUnreadable`].
    pub(crate) fn expand_bytes(self, encoded: &[u8]) -> Result<Vec<u8>, AdmissionError> {
        let mut expanded = ExpandedBody::default();
        if !encoded.is_empty() {
            match self {
                Self::Gzip => expand_gzip(encoded, &mut expanded)?,
                Self::Zstd => expand_zstd(encoded, &mut expanded)?,
            }
        }
        expanded.bytes.shrink_to_fit();
        Ok(expanded.bytes)
    }
}

/// What has been expanded so far: never more than a body may have.
#[derive(Default)]
struct ExpandedBody {
    bytes: Vec<u8>,
}

impl ExpandedBody {
    fn append_bytes(&mut self, more: &[u8]) -> Result<(), AdmissionError> {
        let needed = self.bytes.len() + more.len();
        if needed > BODY_BYTES {
            return Err(AdmissionError::BodyTooLarge);
        }
        if needed > self.bytes.capacity() {
            let room = needed.max(self.bytes.len() / 2 * 3).min(BODY_BYTES);
            self.bytes.reserve_exact(room - self.bytes.len());
        }
        self.bytes.extend_from_slice(more);
        Ok(())
    }
}

fn expand_gzip(encoded: &[u8], expanded: &mut ExpandedBody) -> Result<(), AdmissionError> {
    copy_bounded(MultiGzDecoder::new(encoded), expanded)
}

fn copy_bounded(mut decoder: impl Read, expanded: &mut ExpandedBody) -> Result<(), AdmissionError> {
    let mut step = vec![0; STEP_BYTES];
    loop {
        let bytes = decoder
            .read(&mut step)
            .map_err(|_| AdmissionError::BodyUnreadable(BAD_GZIP))?;
        if bytes == 0 {
            return Ok(());
        }
        expanded.append_bytes(&step[..bytes])?;
    }
}

fn expand_zstd(mut encoded: &[u8], expanded: &mut ExpandedBody) -> Result<(), AdmissionError> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(ZSTD_WINDOW_BYTES);
    let mut blocks = 0;
    for _ in 0..ZSTD_FRAMES {
        if encoded.is_empty() {
            return Ok(());
        }
        if begin_frame(&mut decoder, &mut encoded)? {
            expand_frame(&mut decoder, &mut encoded, expanded, &mut blocks)?;
        }
    }
    if encoded.is_empty() {
        Ok(())
    } else {
        Err(AdmissionError::BodyUnreadable(CHOPPED_ZSTD))
    }
}

/// Reads the head of a frame; false of one that says of itself that it is to be skipped, which is done.
fn begin_frame(decoder: &mut FrameDecoder, encoded: &mut &[u8]) -> Result<bool, AdmissionError> {
    let whole = *encoded;
    match decoder.init(&mut *encoded) {
        Ok(()) if decoder.content_size() > BODY_BYTES as u64 => Err(AdmissionError::BodyTooLarge),
        Ok(()) => Ok(true),
        Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
            length,
            ..
        })) if length as usize <= encoded.len() => {
            encoded.consume(length as usize);
            Ok(false)
        }
        // The window of a frame in a single segment is its content.
        Err(FrameDecoderError::WindowSizeTooBig { .. }) if is_single_segment(whole) => {
            Err(AdmissionError::BodyTooLarge)
        }
        Err(FrameDecoderError::WindowSizeTooBig { .. }) => {
            Err(AdmissionError::BodyUnreadable(WIDE_ZSTD))
        }
        Err(_) => Err(AdmissionError::BodyUnreadable(BAD_ZSTD)),
    }
}

/// Bit 5 of the byte behind a frame's magic number (RFC 8878, section 3.1.1.1.1).
fn is_single_segment(frame: &[u8]) -> bool {
    frame
        .get(4)
        .is_some_and(|descriptor| descriptor & 0x20 != 0)
}

fn expand_frame(
    decoder: &mut FrameDecoder,
    encoded: &mut &[u8],
    expanded: &mut ExpandedBody,
    blocks: &mut usize,
) -> Result<(), AdmissionError> {
    let broken = AdmissionError::BodyUnreadable(BAD_ZSTD);
    let mut step = vec![0; STEP_BYTES];
    while !decoder.is_finished() {
        *blocks += 1;
        if *blocks > ZSTD_BLOCKS {
            return Err(AdmissionError::BodyUnreadable(CHOPPED_ZSTD));
        }
        decoder
            .decode_blocks(&mut *encoded, BlockDecodingStrategy::UptoBlocks(1))
            .map_err(|_| broken.clone())?;
        while decoder.can_collect() > 0 {
            let bytes = decoder.read(&mut step).map_err(|_| broken.clone())?;
            expanded.append_bytes(&step[..bytes])?;
        }
    }
    match decoder.get_checksum_from_data() {
        Some(sum) if decoder.get_calculated_checksum() != Some(sum) => Err(broken),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "expand_tests.rs"]
mod tests;
