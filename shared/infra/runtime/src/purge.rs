//! Forgetting what is old: in bounded statements, so that no lock is held and no transaction grows for long.

use store::StoreError;

use crate::housekeeping::record_failure;

/// How much one go deletes at the most of a kind of row.
#[derive(Debug, Clone, Copy)]
pub struct PurgePortions {
    /// Rows that one statement deletes.
    pub rows: u32,
    /// Statements of one kind.
    pub statements: usize,
}

impl PurgePortions {
    /// Repeats a deletion of so many rows at the most while it finds as many, and counts what it deleted as rows of `kind`
    /// in `pillarbox_purged_rows_total`. A failure is logged and counted, and ends this deletion only: what else is to be
    /// deleted does not depend on it, and what is left is found in the next round.
    pub async fn delete<F>(&self, kind: &'static str, mut delete: impl FnMut(i64) -> F)
    where
        F: Future<Output = Result<u64, StoreError>>,
    {
        let mut rows = 0;
        for _ in 0..self.statements {
            let deleted = match delete(self.rows.into()).await {
                Ok(deleted) => deleted,
                failed => {
                    record_failure(kind, failed);
                    break;
                }
            };
            rows += deleted;
            metrics::counter!("pillarbox_purged_rows_total", "kind" => kind).increment(deleted);
            if deleted < self.rows.into() {
                break;
            }
        }
        if rows > 0 {
            tracing::info!(kind, rows, "deleted old rows");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn a_deletion_that_fails_ends_itself_and_nothing_else() {
        let (portions, asked) = (
            PurgePortions {
                rows: 10,
                statements: 5,
            },
            Cell::new(0),
        );
        let failing = |_| {
            asked.set(asked.get() + 1);
            std::future::ready(Err(StoreError::Corrupt("a row".to_owned())))
        };
        portions.delete("sends", failing).await;
        assert_eq!(asked.get(), 1);
        let full = |rows: i64| {
            asked.set(asked.get() + 1);
            std::future::ready(Ok(rows.unsigned_abs()))
        };
        portions.delete("sends", full).await;
        assert_eq!(asked.get(), 6);
    }
}
