//! `check_formula`.

use columns::{ColumnCatalog, ColumnsContext};
use contract::mcp::{CheckAnswer, CheckArguments, FormulaError};

/// Whether a formula can be saved. That it cannot is an answer, not a failure; that no formula can under this name is one.
pub(super) async fn check_formula(
    asker: ColumnsContext<'_>,
    arguments: CheckArguments,
) -> Result<CheckAnswer, FormulaError> {
    let book = ColumnCatalog::load(asker).await?;
    let name = arguments.name.as_deref();
    if let Some(name) = name {
        book.find_save_target(name)?;
    }
    Ok(tokio::task::block_in_place(|| {
        match book.fit_formula(&arguments.formula, name) {
            Ok(fitting) => CheckAnswer {
                valid: true,
                result_type: Some(fitting.result_type),
                columns: fitting.columns,
                problems: Vec::new(),
                warnings: fitting.warnings,
            },
            Err(problems) => CheckAnswer {
                valid: false,
                result_type: None,
                columns: Vec::new(),
                problems,
                warnings: Vec::new(),
            },
        }
    }))
}
