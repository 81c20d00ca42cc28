//! `list_columns` and `list_functions`.

use audience::fold_name;
use columns::{ColumnCatalog, ColumnsContext};
use contract::mcp::{
    ColumnsAnswer, FORMULA_PAGE_COLUMNS, FormulaError, FunctionsAnswer, FunctionsArguments,
    ListColumnsArguments, page_length,
};
use formula::FunctionHelp;

/// A page of the columns.
pub(super) async fn list_columns(
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
pub(super) fn list_functions(
    arguments: &FunctionsArguments,
) -> Result<FunctionsAnswer, FormulaError> {
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
