//! Where a formula finds the values of its columns.

use audience::ValueLookup;

/// A row.
pub(crate) trait FormulaRow {
    /// The value of a column as text, by its folded name; `None` for blank. An error is a sentence: that of the column's
    /// own formula, which goes through the formulas that use it.
    fn text(&self, key: &str) -> Result<Option<&str>, &str>;
}

/// A row without formula columns.
pub(crate) struct StoredRow<'a>(pub(crate) &'a dyn ValueLookup);

impl FormulaRow for StoredRow<'_> {
    fn text(&self, key: &str) -> Result<Option<&str>, &str> {
        Ok(self.0.value(key))
    }
}
