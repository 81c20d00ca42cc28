//! The files of a run, written side by side.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use storage::{FileName, Storage, StorageError, StorageWriter};
use uuid::Uuid;

/// What the files of a run are called: always the same for the same run.
#[derive(Debug, Clone)]
pub(super) struct RunFileNames {
    pub(super) pdf: FileName,
    pub(super) csv: FileName,
    pub(super) json: FileName,
}

/// Which file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunFileKind {
    Pdf,
    Csv,
    Json,
}

/// Files under way. None shows before it is finished.
pub(super) struct RunFiles {
    pdf: StorageWriter,
    csv: StorageWriter,
    json: StorageWriter,
}

impl RunFileNames {
    pub(super) fn for_run(
        run_id: Uuid,
        product: &str,
        created_at: DateTime<Utc>,
    ) -> anyhow::Result<Self> {
        let base = format!("print/{}/{product}-{run_id}", created_at.date_naive());
        let name = |extension: &str| format!("{base}.{extension}").parse();
        Ok(Self {
            pdf: name("pdf")?,
            csv: name("csv")?,
            json: name("json")?,
        })
    }
}

impl RunFiles {
    /// Begins them. What a printer left that was killed goes first: who holds the run is its only printer.
    pub(super) async fn create(
        storage: &Storage,
        names: &RunFileNames,
    ) -> Result<Self, StorageError> {
        for name in [&names.pdf, &names.csv, &names.json] {
            storage.delete_unfinished(name).await?;
        }
        Ok(Self {
            pdf: storage.start_write(&names.pdf).await?,
            csv: storage.start_write(&names.csv).await?,
            json: storage.start_write(&names.json).await?,
        })
    }

    pub(super) async fn write(
        &mut self,
        kind: RunFileKind,
        content: Bytes,
    ) -> Result<(), StorageError> {
        match kind {
            RunFileKind::Pdf => self.pdf.write(content).await,
            RunFileKind::Csv => self.csv.write(content).await,
            RunFileKind::Json => self.json.write(content).await,
        }
    }

    /// Shows the files, the JSON manifest last: where it is, the others are. A PDF without pages is given up, and so is
    /// the CSV without lines.
    pub(super) async fn finish(self, has_pages: bool) -> Result<(), StorageError> {
        if has_pages {
            self.pdf.finish().await?;
        } else {
            self.pdf.abandon().await?;
        }
        runtime::fail_point::fail_if_chosen("print.pdf_kept");
        if has_pages {
            self.csv.finish().await?;
        } else {
            self.csv.abandon().await?;
        }
        self.json.finish().await
    }

    /// Gives the files up. What cannot be given up is seen by nobody.
    pub(super) async fn abandon(self) {
        for writer in [self.pdf, self.csv, self.json] {
            let _ = writer.abandon().await;
        }
    }
}
