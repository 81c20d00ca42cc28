//! What there is to formulas, and what one means: the columns and functions that it may use, whether it can be saved, what it
//! is and what uses it.

use audience::fold_name;
use contract::mcp::{
    CampaignUse, CheckAnswer, CheckArguments, ColumnsAnswer, ExplainAnswer, ExplainArguments,
    FORMULA_PAGE_COLUMNS, FormulaChangeView, FormulaError, FormulaUses, FunctionsAnswer,
    FunctionsArguments, ListColumnsArguments, page_length,
};
use formula::FunctionHelp;
use store::{FormulaChange, StoreError};

use crate::book::{ColumnCatalog, formula_source};
use crate::uses::{find_design_uses, find_filtering_campaigns};
use crate::{ColumnsContext, to_formula_error};

/// Changes of a formula that are shown.
const CHANGES_SHOWN: i64 = 10;

/// A page of the columns.
///
/// # Errors
/// As those of the tool of this name.
pub async fn list_columns(
    asker: ColumnsContext<'_>,
    arguments: ListColumnsArguments,
) -> Result<ColumnsAnswer, FormulaError> {
    let page = page_length(arguments.limit, FORMULA_PAGE_COLUMNS, FORMULA_PAGE_COLUMNS)?;
    let book = ColumnCatalog::load(asker).await?;
    let mut columns = tokio::task::block_in_place(|| book.column_views());
    if let Some(search) = arguments.search {
        let search = fold_name(&search);
        columns.retain(|column| fold_name(&column.name).contains(&search));
    }
    if let Some(after) = arguments.after {
        let after = fold_name(&after);
        let position = columns
            .iter()
            .position(|column| fold_name(&column.name) == after);
        let position = position.ok_or_else(|| {
            FormulaError::InvalidRequest(
                "after must be the nextAfter of an earlier page.".to_owned(),
            )
        })?;
        columns.drain(..=position);
    }
    let has_more = columns.len() > page;
    columns.truncate(page);
    let next_after = columns
        .last()
        .filter(|_| has_more)
        .map(|column| column.name.clone());
    Ok(ColumnsAnswer {
        columns,
        next_after,
    })
}

/// The functions of a category, or that a search finds.
///
/// # Errors
/// As those of the tool of this name.
pub fn list_functions(arguments: &FunctionsArguments) -> Result<FunctionsAnswer, FormulaError> {
    if let Some(category) = &arguments.category
        && formula::list_functions()
            .iter()
            .all(|help| fold_name(category) != help.category)
    {
        return Err(FormulaError::InvalidRequest(
            "category must be text, number, date or logic.".to_owned(),
        ));
    }
    let is_wanted = |help: &&FunctionHelp| {
        let in_category = arguments
            .category
            .as_ref()
            .is_none_or(|category| fold_name(category) == help.category);
        let is_found = arguments.search.as_ref().is_none_or(|search| {
            let search = fold_name(search);
            [help.name, help.description]
                .iter()
                .any(|text| text.to_lowercase().contains(&search))
        });
        in_category && is_found
    };
    let wanted = formula::list_functions().iter().filter(is_wanted);
    // Texts can always be written.
    let functions = wanted
        .filter_map(|help| serde_json::to_value(help).ok())
        .collect();
    Ok(FunctionsAnswer { functions })
}

/// Whether a formula can be saved. That it cannot is an answer, not a failure; that no formula can under this name is one.
///
/// # Errors
/// As those of the tool of this name.
pub async fn check_formula(
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

/// What a formula column is and what uses it.
///
/// # Errors
/// As those of the tool of this name.
pub async fn explain_formula(
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
        .list_formula_changes(asker.team_id, &column.name_key, CHANGES_SHOWN)
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
        find_filtering_campaigns(&transaction, asker.team_id, name_key).await?;
    let (designs, all_designs) = find_design_uses(&transaction, asker.team_id, name_key).await?;
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
