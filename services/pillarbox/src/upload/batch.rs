//! Rows become requests within the contract's limits (pure but for reading the rows).

use anyhow::anyhow;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::sheet::{TableRow, TableRows};

/// What stands around the rows of a request, and how much may stand in one.
#[derive(Debug, Clone)]
pub(crate) struct UploadEnvelope {
    /// Up to the first row.
    pub(crate) before: String,
    /// Behind the last row.
    pub(crate) after: String,
    /// Rows of a request at the most.
    pub(crate) most_rows: usize,
    /// Bytes of a request at the most.
    pub(crate) most_bytes: usize,
}

/// Rows that go together.
#[derive(Debug)]
pub(crate) struct RowBatch {
    /// From 0; always the same for the same file and envelope.
    pub(crate) number: u64,
    /// In the file's order.
    pub(crate) rows: Vec<TableRow>,
    /// The request's body.
    pub(crate) body: Bytes,
}

/// A file's rows in batches.
pub(crate) struct RowBatches<'s> {
    envelope: UploadEnvelope,
    rows: TableRows<'s>,
    /// The row that did not fit into the batch before, with its JSON.
    next: Option<(TableRow, String)>,
    number: u64,
}

impl UploadEnvelope {
    /// Whether a row of this many bytes fits into a request.
    pub(crate) fn check_row_size(&self, bytes: usize) -> Result<(), String> {
        let room = self
            .most_bytes
            .saturating_sub(self.before.len() + self.after.len());
        if bytes <= room {
            Ok(())
        } else {
            Err(format!(
                "the row has {bytes} bytes, and a request at most {room}"
            ))
        }
    }

    /// What decides where a batch ends and what it says.
    pub(crate) fn fingerprint(&self) -> Value {
        json!([self.before, self.after, self.most_rows, self.most_bytes])
    }

    /// The rows in batches.
    pub(crate) fn into_batches(self, rows: TableRows<'_>) -> RowBatches<'_> {
        RowBatches {
            envelope: self,
            rows,
            next: None,
            number: 0,
        }
    }
}

impl RowBatches<'_> {
    /// The next row with its JSON; `None` at the end.
    fn next_row(
        &mut self,
        encode: &impl Fn(&TableRow) -> String,
    ) -> anyhow::Result<Option<(TableRow, String)>> {
        if let Some(row) = self.next.take() {
            return Ok(Some(row));
        }
        let Some(row) = self.rows.next() else {
            return Ok(None);
        };
        // Every row was read before: only a file that changes meanwhile gets here.
        let row = row.map_err(|error| anyhow!("the file has changed: {error}"))?;
        let json = encode(&row);
        Ok(Some((row, json)))
    }

    /// The next batch, its rows made JSON by `encode`; `None` at the end.
    ///
    /// # Errors
    /// When the file has changed since it was examined.
    pub(crate) fn next(
        &mut self,
        encode: impl Fn(&TableRow) -> String,
    ) -> anyhow::Result<Option<RowBatch>> {
        let UploadEnvelope {
            before,
            after,
            most_rows,
            most_bytes,
        } = self.envelope.clone();
        let (mut rows, mut body) = (Vec::new(), before);
        while let Some((row, json)) = self.next_row(&encode)? {
            let is_full =
                rows.len() == most_rows || body.len() + 1 + json.len() + after.len() > most_bytes;
            if is_full && !rows.is_empty() {
                self.next = Some((row, json));
                break;
            }
            if !rows.is_empty() {
                body.push(',');
            }
            body.push_str(&json);
            rows.push(row);
        }
        if rows.is_empty() {
            return Ok(None);
        }
        body.push_str(&after);
        let number = self.number;
        self.number += 1;
        Ok(Some(RowBatch {
            number,
            rows,
            body: body.into(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sheet::TableFile;

    fn split_batches(lengths: &[usize], most_rows: usize, most_bytes: usize) -> Vec<RowBatch> {
        let file = tempfile::NamedTempFile::new().unwrap();
        let rows: String = lengths
            .iter()
            .map(|length| format!("{}\n", "x".repeat(*length)))
            .collect();
        std::fs::write(file.path(), format!("a\n{rows}")).unwrap();
        let sheet = TableFile::open(file.path()).unwrap();
        let envelope = UploadEnvelope {
            before: "[".to_owned(),
            after: "]".to_owned(),
            most_rows,
            most_bytes,
        };
        let mut batches = envelope.into_batches(sheet.rows().unwrap());
        std::iter::from_fn(|| batches.next(|row| json!(row.cells[0]).to_string()).unwrap())
            .collect()
    }

    proptest! {
        #[test]
        fn batches_hold_every_row_once_in_order_within_both_limits(
            lengths in proptest::collection::vec(1_usize..40, 1..60), most_rows in 1_usize..10, most_bytes in 44_usize..100
        ) {
            let batches = split_batches(&lengths, most_rows, most_bytes);
            let mut sent = Vec::new();
            for (number, batch) in batches.iter().enumerate() {
                prop_assert_eq!(batch.number, number as u64);
                prop_assert!(batch.rows.len() <= most_rows && batch.body.len() <= most_bytes);
                let rows: Vec<String> = serde_json::from_slice(&batch.body).unwrap();
                prop_assert_eq!(rows.len(), batch.rows.len());
                sent.extend(rows.iter().map(String::len));
            }
            prop_assert_eq!(sent, lengths);
        }
    }

    #[test]
    fn a_row_that_fits_no_request_is_refused() {
        let envelope = UploadEnvelope {
            before: "[".to_owned(),
            after: "]".to_owned(),
            most_rows: 1,
            most_bytes: 10,
        };
        assert_eq!(envelope.check_row_size(8), Ok(()));
        assert!(
            envelope
                .check_row_size(9)
                .unwrap_err()
                .contains("at most 8")
        );
    }
}
