//! `explain_formula`.

use columns::{ColumnCatalog, ColumnsContext, formula_source, to_formula_error};
use contract::mcp::{
    CampaignUse, ExplainAnswer, ExplainArguments, FormulaChangeView, FormulaError, FormulaUses,
};
use store::{FormulaChange, StoreError};

/// Changes that are shown.
const CHANGES: i64 = 10;

/// What a formula column is and what uses it.
pub(super) async fn explain_formula(
    asker: ColumnsContext<'_>,
    arguments: ExplainArguments,
) -> Result<ExplainAnswer, FormulaError> {
    let book = ColumnCatalog::load(asker).await?;
    let column = book.find_formula_column(&arguments.name)?;
    let formula = formula_source(column).unwrap_or_default().to_owned();
    let fitted = tokio::task::block_in_place(|| book.fit_formula(&formula, Some(&column.name)));
    let (columns, problems) = match fitted {
        Ok(fitting) => (
            fitting.columns,
            tokio::task::block_in_place(|| book.check_saved_formula(column)),
        ),
        Err(problems) => (Vec::new(), problems),
    };
    let changes = asker
        .store
        .list_formula_changes(asker.team_id, &column.name_key, CHANGES)
        .await;
    let mut used_by = find_uses(asker, &column.name_key)
        .await
        .map_err(to_formula_error)?;
    used_by.formulas =
        tokio::task::block_in_place(|| find_dependent_formulas(&book, &column.name_key));
    Ok(ExplainAnswer {
        name: column.name.clone(),
        formula,
        result_type: column.column_type,
        columns,
        problems,
        used_by,
        changes: changes
            .map_err(to_formula_error)?
            .into_iter()
            .map(change_view)
            .collect(),
    })
}

/// Campaigns and designs, as they stand at one moment.
async fn find_uses(asker: ColumnsContext<'_>, name_key: &str) -> Result<FormulaUses, StoreError> {
    let mut connection = asker.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let (campaigns, all_campaigns) =
        columns::find_filtering_campaigns(&transaction, asker.team_id, name_key).await?;
    let (designs, all_designs) =
        columns::find_design_uses(&transaction, asker.team_id, name_key).await?;
    let campaigns = campaigns
        .into_iter()
        .map(|campaign| CampaignUse {
            id: campaign.campaign_id,
            name: campaign.name,
        })
        .collect();
    Ok(FormulaUses {
        formulas: Vec::new(),
        campaigns,
        designs,
        is_complete: all_campaigns && all_designs,
    })
}

/// The formula columns that use a column.
fn find_dependent_formulas(book: &ColumnCatalog, name_key: &str) -> Vec<String> {
    let sheet = book.formula_sheet();
    let uses = |position: usize| {
        sheet.formula(position).is_some_and(|formula| {
            formula.is_ok_and(|formula| formula.columns().iter().any(|column| column == name_key))
        })
    };
    let definitions = sheet.definitions().iter().enumerate();
    definitions
        .filter(|(position, _)| uses(*position))
        .map(|(_, definition)| definition.name.clone())
        .collect()
}

fn change_view(change: FormulaChange) -> FormulaChangeView {
    FormulaChangeView {
        changed_at: change.changed_at,
        by_key: change.by,
        formula: change.formula,
        previous_formula: change.previous_formula,
    }
}
