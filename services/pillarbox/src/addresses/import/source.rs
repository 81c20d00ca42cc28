//! A file of lines, packed or not, read from a position in bounded chunks.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

use anyhow::Context;
use flate2::bufread::MultiGzDecoder;

use super::records::QuoteState;
use super::row::SourceFormat;

/// Bytes of a chunk: some tens of thousands of rows, merged in one transaction.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// Bytes of one line; a longer one is cut and then no row.
const LINE_BYTES: u64 = 64 * 1024;

/// Bytes read from the disk at a time.
const BUFFER_BYTES: usize = 256 * 1024;

/// Bytes at each end of a file that, with its size, tell it from others.
const HASHED_BYTES: u64 = 1024 * 1024;

/// What a gzip file begins with.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A file of address points.
pub(super) struct AddressPointSource {
    file: File,
    /// What it is known by, whatever its name is.
    pub(super) hash: [u8; 32],
    /// Its name, for people.
    pub(super) name: String,
    /// Bytes on the disk.
    pub(super) size: u64,
    is_packed: bool,
}

/// Whole rows of a file.
pub(super) struct SourceChunk {
    /// As they are in the file.
    pub(super) text: Vec<u8>,
    /// Where the unpacked file goes on behind it.
    pub(super) position: u64,
    /// Bytes of the file on the disk that were read by then.
    pub(super) bytes_read: u64,
}

impl AddressPointSource {
    /// Opens a file.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let mut file = File::open(path).context("cannot open the file")?;
        let size = file.metadata().context("cannot read the file")?.len();
        let hash = hash_file(&mut file, size).context("cannot read the file")?;
        let mut magic = [0; 2];
        file.rewind()?;
        let is_packed = file.read(&mut magic)? == magic.len() && magic == GZIP_MAGIC;
        let name = path
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Self {
            file,
            hash,
            name,
            size,
            is_packed,
        })
    }

    /// The shape of its rows, and where they begin.
    pub(super) fn detect_format(&self) -> anyhow::Result<(SourceFormat, u64)> {
        let mut reader = self.open_unpacked(0)?.0;
        let mut line = Vec::new();
        let read = read_line(&mut reader, &mut line)?;
        SourceFormat::detect(&line, read)
    }

    /// Reads from a position of the unpacked file to its end, as long as somebody receives.
    /// `separator` is that of the values, where quotes may hold a line break.
    pub(super) fn stream_chunks(
        self,
        position: u64,
        separator: Option<u8>,
        chunks: &SyncSender<anyhow::Result<SourceChunk>>,
    ) {
        if let Err(error) = self.read_chunks(position, separator, chunks) {
            // An error: nobody receives any more.
            let _ = chunks.send(Err(error));
        }
    }

    fn read_chunks(
        &self,
        mut position: u64,
        separator: Option<u8>,
        chunks: &SyncSender<anyhow::Result<SourceChunk>>,
    ) -> anyhow::Result<()> {
        let (mut reader, bytes_read) = self.open_unpacked(position)?;
        loop {
            let mut text = Vec::with_capacity(CHUNK_BYTES + LINE_BYTES as usize);
            let (mut is_end, mut quotes) = (false, QuoteState::new(separator));
            while (text.len() < CHUNK_BYTES || quotes.are_open()) && !is_end {
                let start = text.len();
                let read = read_line(&mut reader, &mut text).context("cannot read on")?;
                quotes.consume_line(&text[start..]);
                position += read;
                is_end = read == 0;
            }
            if text.is_empty() {
                return Ok(());
            }
            let bytes_read = bytes_read.load(Ordering::Relaxed);
            if chunks
                .send(Ok(SourceChunk {
                    text,
                    position,
                    bytes_read,
                }))
                .is_err()
            {
                return Ok(());
            }
        }
    }

    /// The unpacked file from a position, and how much of the packed one is read.
    fn open_unpacked(&self, position: u64) -> anyhow::Result<(Box<dyn BufRead>, Arc<AtomicU64>)> {
        let mut file = self.file.try_clone()?;
        let bytes_read = Arc::new(AtomicU64::new(0));
        let start = if self.is_packed { 0 } else { position };
        file.seek(SeekFrom::Start(start))?;
        bytes_read.store(start, Ordering::Relaxed);
        let counted = CountingReader {
            file,
            bytes_read: bytes_read.clone(),
        };
        let counted = BufReader::with_capacity(BUFFER_BYTES, counted);
        if !self.is_packed {
            return Ok((Box::new(counted), bytes_read));
        }
        let mut unpacked = BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(counted));
        // A packed file has no places to go to: what is known is unpacked again and dropped.
        io::copy(&mut unpacked.by_ref().take(position), &mut io::sink())
            .context("cannot unpack the file")?;
        Ok((Box::new(unpacked), bytes_read))
    }
}

/// A file that tells how much of it was read.
struct CountingReader {
    file: File,
    bytes_read: Arc<AtomicU64>,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.bytes_read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Appends a line, of a too long one only its beginning. Returns the bytes that it takes in the file; 0 at the end.
fn read_line(reader: &mut dyn BufRead, text: &mut Vec<u8>) -> io::Result<u64> {
    let mut read = reader.take(LINE_BYTES).read_until(b'\n', text)? as u64;
    if read == LINE_BYTES && !text.ends_with(b"\n") {
        read += reader.skip_until(b'\n')? as u64;
        text.push(b'\n');
    }
    Ok(read)
}

/// A file's size, beginning and end.
fn hash_file(file: &mut File, size: u64) -> io::Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&size.to_le_bytes());
    for start in [0, size.saturating_sub(HASHED_BYTES)] {
        file.seek(SeekFrom::Start(start))?;
        io::copy(&mut file.by_ref().take(HASHED_BYTES), &mut hasher)?;
    }
    Ok(*hasher.finalize().as_bytes())
}
