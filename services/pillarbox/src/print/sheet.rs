//! The press of a run, in a thread of its own: cards in, pieces of files out.

use std::io::{self, Write};
use std::sync::Arc;

use ::print::{
    PictureError, PictureStore, PressError, PressFileWriter, PressMailpieceError, PressSettings,
};
use bytes::Bytes;
use design::{LayoutPlan, Product, Typesetter};
use indicatif::ProgressBar;
use printing::{MailpieceArtwork, MailpieceSource, PaperSettings};
use sha2::{Digest, Sha256};
use storage::{FileName, Storage, StorageError};
use store::{PrintMailpiece, PrintRun, SetAsideMailpiece};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::SetAsideReport;
use super::files::RunFileKind;
use super::manifest::{ManifestPdf, ManifestRow, PrintManifest};

/// Bytes of a file that travel together.
const CHUNK_BYTES: usize = 256 * 1024;

/// Bytes of a kept picture: far more than any that is kept.
const PICTURE_BYTES: usize = 256 * 1024 * 1024;

/// A plan, or why the design's version has none any more.
pub(super) type PlanResult = Result<Arc<LayoutPlan>, String>;

/// Cards with their designs.
pub(super) type PressBatch = Vec<(PrintMailpiece, PlanResult)>;

/// A piece of a file.
pub(super) struct FileChunk {
    pub(super) kind: RunFileKind,
    pub(super) content: Bytes,
}

/// What a run is printed with.
pub(super) struct PressContext {
    pub(super) run: PrintRun,
    pub(super) paper: PaperSettings,
    pub(super) product: Product,
    pub(super) pdf_name: String,
    pub(super) storage: Storage,
    pub(super) runtime: Handle,
    pub(super) bar: ProgressBar,
}

/// What was made.
#[derive(Debug, Default)]
pub(super) struct PressOutput {
    pub(super) cards: usize,
    pub(super) pages: usize,
    /// Cards that could not print: for the store, and as they are told.
    pub(super) set_aside: Vec<(SetAsideMailpiece, SetAsideReport)>,
}

/// Prints all cards that come.
///
/// # Errors
/// When pictures cannot be read or nobody takes the files.
pub(super) fn print_mailpieces(
    sheet: &PressContext,
    mut batches: mpsc::Receiver<PressBatch>,
    chunks: mpsc::Sender<FileChunk>,
) -> anyhow::Result<PressOutput> {
    let out = |kind| ChunkWriter {
        kind,
        chunks: chunks.clone(),
        buffer: Vec::with_capacity(CHUNK_BYTES),
    };
    let mut press = PressFileWriter::new(
        DigestWriter::new(out(RunFileKind::Pdf)),
        sheet.press_settings(),
    )?;
    let mut manifest =
        PrintManifest::start(out(RunFileKind::Csv), out(RunFileKind::Json), &sheet.run)?;
    let mut pictures = KeptPictures {
        storage: &sheet.storage,
        runtime: &sheet.runtime,
    };
    let (mut typesetter, mut made) = (Typesetter::new(), PressOutput::default());
    while let Some(batch) = batches.blocking_recv() {
        for (mailpiece, planned) in &batch {
            match print_mailpiece(
                sheet,
                &mut press,
                &mut pictures,
                &mut typesetter,
                mailpiece,
                planned,
            ) {
                Ok((first_page, barcode)) => {
                    manifest.add(ManifestRow::new(mailpiece, first_page, barcode))?;
                    made.cards += 1;
                }
                Err(PrintError::Card(problem)) => {
                    made.set_aside.push(set_aside(mailpiece, problem))
                }
                Err(PrintError::Press(error)) => return Err(error.into()),
            }
            sheet.bar.inc(1);
        }
        runtime::fail_point::fail_if_chosen("print.drawing");
    }
    made.pages = press.page_count();
    let pdf = press.finish()?.finish(&sheet.pdf_name, made.pages)?;
    let told: Vec<SetAsideReport> = made
        .set_aside
        .iter()
        .map(|(_, card)| card.clone())
        .collect();
    manifest.finish((made.pages > 0).then_some(&pdf), &told)?;
    Ok(made)
}

/// Why a card is not in the file.
enum PrintError {
    /// Only it cannot print.
    Card(String),
    /// Nothing can.
    Press(PressError),
}

fn print_mailpiece<W: Write>(
    sheet: &PressContext,
    press: &mut PressFileWriter<W>,
    pictures: &mut KeptPictures<'_>,
    typesetter: &mut Typesetter,
    mailpiece: &PrintMailpiece,
    planned: &PlanResult,
) -> Result<(usize, String), PrintError> {
    let plan = planned
        .as_ref()
        .map_err(|why| PrintError::Card(format!("its design cannot print: {why}")))?;
    let design = (mailpiece.design_id, mailpiece.design_version);
    let serial = sheet.run.first_serial + i64::from(mailpiece.position) - 1;
    let serial = u64::try_from(serial).unwrap_or_default();
    let artwork = MailpieceArtwork::new(
        typesetter,
        &sheet.paper,
        &MailpieceSource {
            design,
            plan,
            mailpiece,
            serial,
        },
    );
    match press.print_mailpiece(&artwork.press_mailpiece(), pictures) {
        Ok(first_page) => Ok((first_page, artwork.barcode_digits())),
        Err(PressError::Card(problem)) => {
            Err(PrintError::Card(PressMailpieceError::to_string(&problem)))
        }
        Err(error) => Err(PrintError::Press(error)),
    }
}

fn set_aside(mailpiece: &PrintMailpiece, problem: String) -> (SetAsideMailpiece, SetAsideReport) {
    let PrintMailpiece {
        team_id,
        mailpiece_id,
        campaign_id,
        ..
    } = mailpiece;
    let told = SetAsideReport {
        piece_id: *mailpiece_id,
        campaign_id: campaign_id.as_str().to_owned(),
        problem: problem.clone(),
    };
    (
        SetAsideMailpiece {
            team_id: *team_id,
            mailpiece_id: *mailpiece_id,
            problem,
        },
        told,
    )
}

impl PressContext {
    /// All of it follows from the run.
    fn press_settings(&self) -> PressSettings {
        PressSettings {
            product: self.product,
            public_url: self.paper.public_url.clone(),
            title: format!("{} {}", self.run.product, self.run.created_at.date_naive()),
            created_at: self.run.created_at,
            id: *self.run.lease.run_id.as_bytes(),
        }
    }
}

/// Pictures in the store, read from the press's thread.
struct KeptPictures<'a> {
    storage: &'a Storage,
    runtime: &'a Handle,
}

impl PictureStore for KeptPictures<'_> {
    fn read_picture(&mut self, file: &str) -> Result<Bytes, PictureError> {
        let name: FileName = file.parse().map_err(|_| PictureError::Missing)?;
        self.runtime
            .block_on(self.storage.get(&name, PICTURE_BYTES))
            .map_err(|error| match error {
                StorageError::NotFound(_) | StorageError::TooLarge { .. } => PictureError::Missing,
                error => PictureError::Unavailable(Box::new(error)),
            })
    }
}

/// Sends what is written to the store, in pieces.
struct ChunkWriter {
    kind: RunFileKind,
    chunks: mpsc::Sender<FileChunk>,
    buffer: Vec<u8>,
}

impl Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= CHUNK_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let content = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK_BYTES)).into();
        let sent = self.chunks.blocking_send(FileChunk {
            kind: self.kind,
            content,
        });
        sent.map_err(|_| io::Error::other("nobody takes the file any more"))
    }
}

/// Counts and digests what is written.
struct DigestWriter<W> {
    out: W,
    bytes: u64,
    digest: Sha256,
}

impl<W: Write> DigestWriter<W> {
    fn new(out: W) -> Self {
        Self {
            out,
            bytes: 0,
            digest: Sha256::new(),
        }
    }

    fn finish(mut self, name: &str, pages: usize) -> io::Result<ManifestPdf> {
        self.out.flush()?;
        let sha256 = self
            .digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok(ManifestPdf {
            name: name.to_owned(),
            bytes: self.bytes,
            pages,
            sha256,
        })
    }
}

impl<W: Write> Write for DigestWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
