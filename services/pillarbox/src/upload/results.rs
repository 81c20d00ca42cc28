//! The results file: CSV with one line for each row.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;

use anyhow::{Context, bail};
use spreadsheet::escape_formula;

use super::RowResult;
use crate::sheet::TableRow;

/// The results file under way.
pub(super) struct ResultsFile {
    /// Where it is.
    pub(super) path: PathBuf,
    file: File,
}

impl ResultsFile {
    /// Opens the file. Behind `kept` bytes it is cut off: what stands there belongs to a batch that is sent again.
    ///
    /// # Errors
    /// When it cannot be written, or is shorter than it was.
    pub(super) fn open(
        path: PathBuf,
        headings: &[&str],
        kept: Option<u64>,
    ) -> anyhow::Result<Self> {
        let open = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let mut file = open.with_context(|| format!("cannot write {}", path.display()))?;
        let length = file.metadata()?.len();
        if kept.is_some_and(|kept| kept > length) {
            bail!(
                "{} has lost lines since the upload was interrupted: bring it back, or remove it and its journal",
                path.display()
            );
        }
        file.set_len(kept.unwrap_or(0))?;
        file.seek(SeekFrom::End(0))?;
        let mut results = Self { path, file };
        if kept.is_none() {
            let headings: Vec<String> = ["line"]
                .iter()
                .chain(headings)
                .map(|&name| name.to_owned())
                .collect();
            results.write_synced(&encode_csv([headings].into_iter())?)?;
        }
        Ok(results)
    }

    /// Adds the results of these rows and returns how long the file is, all of it on disk.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn append(
        &mut self,
        rows: &[TableRow],
        results: &[RowResult],
    ) -> anyhow::Result<u64> {
        let cells = rows.iter().zip(results).map(|(row, result)| {
            let told = result
                .cells
                .iter()
                .map(|cell| escape_formula(cell).into_owned());
            std::iter::once(row.line.to_string()).chain(told).collect()
        });
        self.write_synced(&encode_csv(cells)?)?;
        Ok(self.file.metadata()?.len())
    }

    fn write_synced(&mut self, text: &[u8]) -> anyhow::Result<()> {
        let written = self
            .file
            .write_all(text)
            .and_then(|()| self.file.sync_data());
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

fn encode_csv(rows: impl Iterator<Item = Vec<String>>) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.write_record(row)?;
    }
    writer.into_inner().context("cannot write the results")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_row(line: u64) -> TableRow {
        TableRow {
            line,
            cells: Vec::new(),
        }
    }

    fn build_result(cell: &str) -> RowResult {
        RowResult {
            cells: vec![cell.to_owned()],
            counts_as: String::new(),
        }
    }

    #[test]
    fn what_belongs_to_an_unfinished_batch_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.csv");
        let mut results = ResultsFile::open(path.clone(), &["status"], None).unwrap();
        let kept = results
            .append(&[build_row(2)], &[build_result("mailed")])
            .unwrap();
        results
            .append(&[build_row(3)], &[build_result("torn")])
            .unwrap();
        let mut results = ResultsFile::open(path.clone(), &["status"], Some(kept)).unwrap();
        results
            .append(&[build_row(3)], &[build_result("=1+1")])
            .unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "line,status\n2,mailed\n3,'=1+1\n"
        );
        assert!(ResultsFile::open(path, &["status"], Some(9_999)).is_err());
    }
}
