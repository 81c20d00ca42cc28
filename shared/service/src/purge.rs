//! Forgetting what is old: in bounded statements, so that no lock is held and no transaction grows for long.

use store::StoreError;

/// How much one go deletes at the most of a kind of row.
#[derive(Debug, Clone, Copy)]
pub struct Portions {
    /// Rows that one statement deletes.
    pub rows: u32,
    /// Statements of one kind.
    pub statements: usize,
}

impl Portions {
    /// Repeats a deletion of so many rows at the most while it finds as many, and counts what it deleted as rows of `kind`
    /// in `pillarbox_purged_rows_total`.
    ///
    /// # Errors
    /// Those of the deletion. What was deleted before stays deleted.
    pub async fn delete<F>(
        &self,
        kind: &'static str,
        mut delete: impl FnMut(i64) -> F,
    ) -> Result<(), StoreError>
    where
        F: Future<Output = Result<u64, StoreError>>,
    {
        let mut rows = 0;
        for _ in 0..self.statements {
            let deleted = delete(self.rows.into()).await?;
            rows += deleted;
            metrics::counter!("pillarbox_purged_rows_total", "kind" => kind).increment(deleted);
            if deleted < self.rows.into() {
                break;
            }
        }
        if rows > 0 {
            tracing::info!(kind, rows, "deleted old rows");
        }
        Ok(())
    }
}
