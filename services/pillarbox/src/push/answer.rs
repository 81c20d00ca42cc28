//! The answer to a batch, row by row. What a later version of the service adds is ignored.

use std::collections::HashMap;

use serde::Deserialize;

use crate::client::{GatewayClient, GatewayError, GatewayRequest};
use crate::upload::{RowResult, UploadProgress};

/// The headings of a row's result.
pub(super) const HEADINGS: &[&str] = &[
    "external_id",
    "status",
    "code",
    "field",
    "message",
    "dropped_values",
];

/// Pages of warnings that are read after one batch: each of its thousand rows can lose a thousand values.
const PAGES: usize = 1_001;

/// A row as it was sent.
pub(super) struct SentRow {
    pub(super) external_id: String,
    pub(super) is_delete: bool,
}

/// An answer with status 200.
#[derive(Debug, Deserialize)]
pub(super) struct PushBatchResponse {
    rejections: Vec<BatchRejection>,
    warnings: Vec<BatchWarningGroup>,
}

#[derive(Debug, Deserialize)]
struct BatchRejection {
    index: usize,
    code: String,
    #[serde(default)]
    field: String,
    message: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BatchWarningGroup {
    message: String,
    count: usize,
    external_ids: Vec<String>,
}

/// One stored warning.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredWarning {
    batch: u64,
    index: usize,
    external_id: Option<String>,
    message: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredWarningsPage {
    items: Vec<StoredWarning>,
    next_after: Option<String>,
}

/// What values a row has lost, by its position.
pub(super) type DroppedValues = HashMap<usize, Vec<String>>;

/// The dropped values of a sync, where the answers only give examples.
#[derive(Debug, Default)]
pub(super) struct SyncWarnings {
    sync_id: String,
    /// The last full page that was read ends here.
    after: Option<String>,
}

impl SyncWarnings {
    pub(super) fn for_sync(sync_id: String) -> Self {
        Self {
            sync_id,
            after: None,
        }
    }

    /// What each row of a batch has lost. The answer names up to five rows for each field; only when there are more is the
    /// list read, from the last full page on.
    ///
    /// # Errors
    /// As the service says.
    pub(super) async fn find_dropped_values(
        &mut self,
        client: &GatewayClient,
        pushed: &PushBatchResponse,
        rows: &[SentRow],
        progress: &UploadProgress,
    ) -> Result<DroppedValues, GatewayError> {
        if pushed
            .warnings
            .iter()
            .all(|group| group.count <= group.external_ids.len())
        {
            return Ok(pushed.collect_dropped_values(rows));
        }
        let mut own = Vec::new();
        for _ in 0..PAGES {
            let page: StoredWarningsPage = client
                .send(&GatewayRequest::get(self.request_path()), progress)
                .await?;
            own.extend(page.items.into_iter().filter(|item| is_of(item, rows)));
            match page.next_after {
                Some(next) => self.after = Some(next),
                None => break,
            }
        }
        Ok(collect_last_batch(own))
    }

    fn request_path(&self) -> String {
        let after = self
            .after
            .as_ref()
            .map(|after| format!("&after={after}"))
            .unwrap_or_default();
        format!(
            "{}/sync/rejections?syncId={}&type=warning&limit=1000{after}",
            super::BASE,
            self.sync_id
        )
    }
}

fn is_of(item: &StoredWarning, rows: &[SentRow]) -> bool {
    rows.get(item.index)
        .is_some_and(|row| item.external_id.as_deref() == Some(&row.external_id))
}

/// The warnings of the batch that came last: the same contacts may stand in an earlier one.
fn collect_last_batch(items: Vec<StoredWarning>) -> DroppedValues {
    let last = items.iter().map(|item| item.batch).max();
    let mut dropped = DroppedValues::new();
    for item in items.into_iter().filter(|item| Some(item.batch) == last) {
        dropped.entry(item.index).or_default().push(item.message);
    }
    dropped
}

impl PushBatchResponse {
    /// The dropped values of the rows that the answer names.
    fn collect_dropped_values(&self, rows: &[SentRow]) -> DroppedValues {
        let mut dropped = DroppedValues::new();
        for group in &self.warnings {
            for (index, row) in rows.iter().enumerate() {
                if group.external_ids.contains(&row.external_id) && !self.is_rejected(index) {
                    dropped
                        .entry(index)
                        .or_default()
                        .push(group.message.clone());
                }
            }
        }
        dropped
    }

    fn is_rejected(&self, index: usize) -> bool {
        self.rejections
            .iter()
            .any(|rejection| rejection.index == index)
    }

    /// One result for each row.
    pub(super) fn row_results(&self, rows: &[SentRow], dropped: &DroppedValues) -> Vec<RowResult> {
        let rejections: HashMap<usize, &BatchRejection> = self
            .rejections
            .iter()
            .map(|rejection| (rejection.index, rejection))
            .collect();
        let result = |(index, row): (usize, &SentRow)| {
            let rejection = rejections.get(&index);
            let status = match (rejection, row.is_delete) {
                (Some(_), _) => "rejected",
                (None, true) => "deleted",
                (None, false) => "accepted",
            };
            let text = |of: fn(&BatchRejection) -> &String| {
                rejection.map(|found| of(found).clone()).unwrap_or_default()
            };
            let counts_as = rejection.map_or_else(|| status.to_owned(), |found| found.code.clone());
            let cells = vec![
                row.external_id.clone(),
                status.to_owned(),
                text(|found| &found.code),
                text(|found| &found.field),
                text(|found| &found.message),
                dropped
                    .get(&index)
                    .map(|messages| messages.join(" "))
                    .unwrap_or_default(),
            ];
            RowResult { cells, counts_as }
        };
        rows.iter().enumerate().map(result).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn build_row(external_id: &str) -> SentRow {
        SentRow {
            external_id: external_id.to_owned(),
            is_delete: external_id == "gone",
        }
    }

    #[test]
    fn every_row_has_a_result() {
        let pushed: PushBatchResponse = serde_json::from_value(json!({"accepted": 1, "deleted": 1, "rejected": 1,
            "rejections": [{"index": 1, "externalId": "b", "code": "invalid_email", "field": "email", "message": "No."}],
            "warnings": [{"index": 0, "externalId": "a", "code": "invalid_type", "field": "age", "message": "age must be.",
                "count": 1, "externalIds": ["a"]}]}))
        .unwrap();
        let rows = [build_row("a"), build_row("b"), build_row("gone")];
        let results = pushed.row_results(&rows, &pushed.collect_dropped_values(&rows));
        let shown: Vec<String> = results
            .iter()
            .map(|result| result.cells.join("|"))
            .collect();
        assert_eq!(
            shown,
            [
                "a|accepted||||age must be.",
                "b|rejected|invalid_email|email|No.|",
                "gone|deleted||||"
            ]
        );
        assert_eq!(results[1].counts_as, "invalid_email");
    }

    #[test]
    fn of_stored_warnings_those_of_the_latest_batch_count() {
        let item = |batch, index| StoredWarning {
            batch,
            index,
            external_id: None,
            message: format!("{batch}"),
        };
        let dropped = collect_last_batch(vec![item(1, 0), item(2, 0), item(2, 3)]);
        assert_eq!(
            (dropped.len(), &dropped[&0], &dropped[&3]),
            (2, &vec!["2".to_owned()], &vec!["2".to_owned()])
        );
    }
}
