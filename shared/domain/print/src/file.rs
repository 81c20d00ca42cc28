//! A PDF file written object by object: what was written is not kept, only where it begins.

use std::io::{self, Write};

use flate2::{Compress, Compression, FlushCompress, Status};
use pdf_writer::{Chunk, Ref, Settings};

/// The version that has all that we use, and bytes that tell transfer programs that the file is not text.
const HEADER: &[u8] = b"%PDF-1.7\n%\x80\xE2\xE3\xCF\n";

/// The largest offset that ten digits can say.
const LARGEST_OFFSET: u64 = 9_999_999_999;

/// Bytes by which room for what is packed grows at the least.
const PACKED_STEP: usize = 256;

/// Without the blanks that people like.
pub(crate) const COMPACT: Settings = Settings { pretty: false };

/// A file under way.
pub(crate) struct ObjectFile<W> {
    out: W,
    position: u64,
    /// Where each object begins, by its number from 1; `None` for one that is not written yet. These few bytes are all
    /// that is kept of an object.
    offsets: Vec<Option<u64>>,
}

/// What the end of the file refers to.
pub(crate) struct PdfTrailer {
    /// The document's catalog.
    pub(crate) catalog: Ref,
    /// Its title and dates.
    pub(crate) info: Ref,
    /// Tells the file from others.
    pub(crate) id: [u8; 16],
}

impl<W: Write> ObjectFile<W> {
    pub(crate) fn new(mut out: W) -> io::Result<Self> {
        out.write_all(HEADER)?;
        Ok(Self {
            out,
            position: HEADER.len() as u64,
            offsets: Vec::new(),
        })
    }

    /// The number of an object that is written later.
    pub(crate) fn reserve_object(&mut self) -> io::Result<Ref> {
        self.offsets.push(None);
        let number =
            i32::try_from(self.offsets.len()).map_err(|_| io::Error::other("too many objects"))?;
        Ok(Ref::new(number))
    }

    /// Writes a new object.
    pub(crate) fn add_object(&mut self, build: impl FnOnce(&mut Chunk, Ref)) -> io::Result<Ref> {
        let object = self.reserve_object()?;
        self.write_object(object, build)?;
        Ok(object)
    }

    /// Writes an object whose number was reserved.
    pub(crate) fn write_object(
        &mut self,
        object: Ref,
        build: impl FnOnce(&mut Chunk, Ref),
    ) -> io::Result<()> {
        if self.position > LARGEST_OFFSET {
            return Err(io::Error::other(
                "a PDF has ten gigabytes at the most: print fewer cards in a run",
            ));
        }
        let mut chunk = Chunk::with_settings(COMPACT);
        build(&mut chunk, object);
        // References count from 1 and are given out here.
        self.offsets[object.get() as usize - 1] = Some(self.position);
        self.write_bytes(chunk.as_bytes())
    }

    /// Ends the file.
    pub(crate) fn finish(mut self, trailer: &PdfTrailer) -> io::Result<W> {
        let table = self.position;
        let size = self.offsets.len() + 1;
        self.write_bytes(format!("xref\n0 {size}\n0000000000 65535 f\r\n").as_bytes())?;
        for offset in std::mem::take(&mut self.offsets) {
            let entry = match offset {
                Some(offset) => format!("{offset:010} 00000 n\r\n"),
                None => "0000000000 65535 f\r\n".to_owned(),
            };
            self.write_bytes(entry.as_bytes())?;
        }
        let id: String = trailer
            .id
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect();
        let (catalog, info) = (trailer.catalog.get(), trailer.info.get());
        let end = format!(
            "trailer\n<</Size {size}/Root {catalog} 0 R/Info {info} 0 R/ID[<{id}><{id}>]>>\nstartxref\n{table}\n%%EOF\n"
        );
        self.write_bytes(end.as_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.position += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

/// Packs bytes as `FlateDecode` unpacks them. Its memory is a third of a megabyte, which is why pages share one.
pub(crate) struct FlateEncoder {
    state: Compress,
}

impl FlateEncoder {
    pub(crate) fn new(level: Compression) -> Self {
        Self {
            state: Compress::new(level, true),
        }
    }

    pub(crate) fn encode(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.state.reset();
        let mut packed = Vec::with_capacity(bytes.len() / 2 + PACKED_STEP);
        let mut status = Status::Ok;
        while status != Status::StreamEnd {
            packed.reserve(PACKED_STEP);
            // What was taken in is counted from the reset on.
            let taken = usize::try_from(self.state.total_in()).unwrap_or(bytes.len());
            status = self
                .state
                .compress_vec(&bytes[taken..], &mut packed, FlushCompress::Finish)
                .expect("packing in memory does not fail");
        }
        packed
    }
}

/// The same, once.
pub(crate) fn deflate_bytes(bytes: &[u8], level: Compression) -> Vec<u8> {
    FlateEncoder::new(level).encode(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_packed_unpacks_to_itself_again_and_again(
            texts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20_000), 1..4),
        ) {
            let mut packer = FlateEncoder::new(Compression::fast());
            for text in texts {
                let mut unpacked = Vec::new();
                ZlibDecoder::new(&packer.encode(&text)[..]).read_to_end(&mut unpacked).unwrap();
                prop_assert_eq!(unpacked, text);
            }
        }
    }
}
