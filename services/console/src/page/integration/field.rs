//! The fields that an integration declares, and the columns of the address book that they fill.

use std::collections::{BTreeMap, HashMap};

use askama::Template;
use axum::Form;
use contract::push::{FieldSemantic, IntegrationField};
use integrations::{ColumnSources, MapFieldsError, MappingProblem, column_sources, format_mapping};
use store::Integration;

use super::{IntegrationPath, PART, find_integration};
use crate::extract::{FormResult, MemberContext};
use crate::fingerprint::fingerprint_of;
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::{PageError, PageResult};
use crate::render::{render_page, render_refusal};

/// A column of the mapping's form.
struct ColumnMappingRow {
    semantic: &'static str,
    is_needed: bool,
    /// The field that fills it, as it is stored or was typed.
    key: String,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "integration_field.html")]
struct FieldPage {
    frame: PageFrame,
    integration: Integration,
    fields: Vec<IntegrationField>,
    columns: Vec<ColumnMappingRow>,
    /// A fingerprint of the mapping that stands.
    seen: String,
    /// The mapping that stands, when somebody else has saved it meanwhile.
    overtaken: Option<String>,
    is_mapped: bool,
    public_url: String,
}

/// What is wrong with the field that was typed for a column.
type FieldMappingErrors = HashMap<FieldSemantic, MappingProblem>;

/// The page.
pub(crate) async fn show_fields(context: MemberContext, path: IntegrationPath) -> PageResult {
    let integration = find_integration(&context, path).await?;
    let fields = context
        .store()
        .list_fields(integration.integration_id)
        .await?;
    let typed = column_sources(&fields)
        .into_iter()
        .map(|(column, key)| (column.to_owned(), key))
        .collect();
    let shown = field_page(
        &context,
        integration,
        fields,
        (&typed, FieldMappingErrors::new()),
    )
    .await?;
    Ok(render_page(&shown))
}

async fn field_page(
    context: &MemberContext,
    integration: Integration,
    fields: Vec<IntegrationField>,
    (typed, mut problems): (&BTreeMap<String, String>, FieldMappingErrors),
) -> Result<FieldPage, PageError> {
    let mapped = context
        .store()
        .list_owner_mapped_keys(integration.integration_id)
        .await?;
    let columns = FieldSemantic::ALL.map(|semantic| ColumnMappingRow {
        semantic: semantic.as_str(),
        is_needed: FieldSemantic::NEEDED_TO_MAIL.contains(&semantic),
        key: typed.get(semantic.as_str()).cloned().unwrap_or_default(),
        problem: problems
            .remove(&semantic)
            .map(|problem| problem.to_string()),
    });
    Ok(FieldPage {
        frame: context.frame(PART),
        seen: fingerprint_of(&column_sources(&fields)),
        overtaken: None,
        columns: columns.into(),
        is_mapped: !mapped.is_empty(),
        public_url: context.public_url(),
        integration,
        fields,
    })
}

/// Fills each column with the field that is named beside it.
pub(crate) async fn map_fields(
    context: MemberContext,
    path: IntegrationPath,
    form: FormResult<BTreeMap<String, String>>,
) -> PageResult {
    let integration = find_integration(&context, path).await?;
    let Form(typed) = form?;
    refuse_partial(&typed)?;
    let wanted = wanted_sources(&typed);
    let mapped = integrations::map_fields(
        context.store(),
        context.actor(),
        &integration,
        &wanted,
        |standing| typed.get("seen") == Some(&fingerprint_of(standing)),
        context.now(),
    );
    match mapped.await {
        Ok(()) => Ok(redirect_with_notice(
            &format!("{PART}/{}/fields", integration.integration_id),
            ActionNotice::FieldsMapped,
        )),
        Err(MapFieldsError::Overtaken(fields)) => {
            let standing = format_mapping(&column_sources(&fields));
            let told = (&typed, FieldMappingErrors::new());
            let shown = field_page(&context, integration, fields, told).await?;
            Ok(render_refusal(&FieldPage {
                overtaken: Some(standing),
                ..shown
            }))
        }
        Err(MapFieldsError::Unusable { fields, problems }) => {
            let told = (&typed, problems);
            let shown = field_page(&context, integration, fields, told).await?;
            Ok(render_refusal(&shown))
        }
        Err(MapFieldsError::Store(error)) => Err(error.into()),
    }
}

/// The fields that were typed, each beside the column that it is to fill.
fn wanted_sources(typed: &BTreeMap<String, String>) -> ColumnSources {
    FieldSemantic::ALL
        .iter()
        .filter_map(|column| {
            let key = typed.get(column.as_str())?.trim();
            (!key.is_empty()).then(|| (column.as_str(), key.to_owned()))
        })
        .collect()
}

/// Refuses a form that does not name every column: what is not there would be taken for a column that nothing fills.
fn refuse_partial(typed: &BTreeMap<String, String>) -> Result<(), PageError> {
    match FieldSemantic::ALL
        .iter()
        .find(|semantic| !typed.contains_key(semantic.as_str()))
    {
        None => Ok(()),
        Some(missing) => Err(PageError::Invalid(format!(
            "Nothing was changed: the form came without the column {}. Reload the page and send all of it.",
            missing.as_str()
        ))),
    }
}

/// Leaves the mapping to declarations again.
pub(crate) async fn release_mapping(context: MemberContext, path: IntegrationPath) -> PageResult {
    let integration = find_integration(&context, path).await?;
    let (store, now) = (context.store(), context.now());
    integrations::release_fields(store, context.actor(), &integration, now).await?;
    Ok(redirect_with_notice(
        &format!("{PART}/{}/fields", integration.integration_id),
        ActionNotice::FieldsReleased,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_filled_by_the_field_typed_beside_it_and_by_none_when_that_is_blank() {
        let typed = [("city", " town "), ("zip", " "), ("seen", "0")];
        let typed = typed.map(|(name, key)| (name.to_owned(), key.to_owned()));
        assert_eq!(
            wanted_sources(&typed.into()),
            [("city", "town".to_owned())].into()
        );
    }
}
