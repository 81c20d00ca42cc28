//! Bodies as clients compress them.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// The bytes as gzip.
pub fn compress_gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .expect("memory takes what is written")
}

/// The bytes as zstd.
pub fn compress_zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// What makes a body smaller.
pub type Compressor = fn(&[u8]) -> Vec<u8>;

/// What compresses, by the name that `Content-Encoding` gives it.
pub const COMPRESSIONS: [(&str, Compressor); 2] =
    [("gzip", compress_gzip), ("zstd", compress_zstd)];
