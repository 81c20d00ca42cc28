//! The fields that an integration declares, and the columns of the address book that they fill.

use std::collections::{BTreeMap, HashMap, HashSet};

use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::response::Response;
use contract::push::{FieldSemantic, IntegrationField};
use store::{FieldMapping, Integration, describe_change};

use super::{IntegrationPath, PART, find};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, NoticeQuery, PageFrame, done, page, refused};
use crate::failure::PageError;
use crate::seen::fingerprint;

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
type FieldMappingErrors = HashMap<FieldSemantic, String>;

/// The page.
pub(super) async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: IntegrationPath,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let integration = find(&console, &person, path).await?;
    let Query(NoticeQuery { notice }) = noticed?;
    let fields = console
        .process
        .store
        .field_list(integration.integration_id)
        .await?;
    let typed = stored(&fields);
    let mut shown = field_page(
        &console,
        &person,
        integration,
        fields,
        (&typed, FieldMappingErrors::new()),
    )
    .await?;
    shown.frame = shown.frame.with_notice(notice);
    Ok(page(&shown))
}

/// The mapping as it is stored, in the form's words.
fn stored(fields: &[IntegrationField]) -> BTreeMap<String, String> {
    let mapped = fields
        .iter()
        .filter_map(|field| Some((field.semantic?, field)));
    mapped
        .map(|(semantic, field)| (semantic.as_str().to_owned(), field.key.clone()))
        .collect()
}

async fn field_page(
    console: &ConsoleState,
    person: &CurrentMember,
    integration: Integration,
    fields: Vec<IntegrationField>,
    (typed, mut problems): (&BTreeMap<String, String>, FieldMappingErrors),
) -> Result<FieldPage, PageError> {
    let mapped = console
        .process
        .store
        .field_keys_mapped_by_owner(integration.integration_id)
        .await?;
    let columns = FieldSemantic::ALL.map(|semantic| ColumnMappingRow {
        semantic: semantic.as_str(),
        is_needed: FieldSemantic::NEEDED_TO_MAIL.contains(&semantic),
        key: typed.get(semantic.as_str()).cloned().unwrap_or_default(),
        problem: problems.remove(&semantic),
    });
    Ok(FieldPage {
        frame: PageFrame::new(person, PART),
        seen: fingerprint(&stored(&fields)),
        overtaken: None,
        columns: columns.into(),
        is_mapped: !mapped.is_empty(),
        public_url: console.process.config.console.public_url.clone(),
        integration,
        fields,
    })
}

/// Fills each column with the field that is named beside it.
pub(super) async fn map(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: IntegrationPath,
    form: Result<Form<BTreeMap<String, String>>, FormRejection>,
) -> Result<Response, PageError> {
    let integration = find(&console, &person, path).await?;
    let Form(typed) = form?;
    refuse_partial(&typed)?;
    let integration_id = integration.integration_id;
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let fields = transaction.field_list_locked(integration_id).await?;
    let standing = stored(&fields);
    if typed.get("seen") != Some(&fingerprint(&standing)) {
        drop(transaction);
        drop(connection);
        let shown = field_page(
            &console,
            &person,
            integration,
            fields,
            (&typed, FieldMappingErrors::new()),
        )
        .await?;
        return Ok(refused(&FieldPage {
            overtaken: Some(mapping_words(&standing)),
            ..shown
        }));
    }
    let changes = match changes(&fields, &typed) {
        Ok(changes) => changes,
        Err(problems) => {
            drop(transaction);
            let shown =
                field_page(&console, &person, integration, fields, (&typed, problems)).await?;
            return Ok(refused(&shown));
        }
    };
    if !changes.is_empty() {
        let now = console.process.clock.now();
        transaction.field_map(integration_id, &changes).await?;
        let wanted = FieldSemantic::ALL
            .iter()
            .filter_map(|semantic| typed.get_key_value(semantic.as_str()));
        let wanted = wanted.filter(|(_, key)| !key.trim().is_empty());
        let wanted = wanted
            .map(|(semantic, key)| (semantic.clone(), key.trim().to_owned()))
            .collect();
        let change = describe_change(&mapping_words(&standing), &mapping_words(&wanted));
        let subject = format!("{}, {change}", integration.name);
        transaction
            .activity_add(&person.0, "integration.mapped", &subject, now)
            .await?;
        transaction.commit().await?;
    }
    Ok(done(
        &format!("{PART}/{integration_id}/fields"),
        ActionNotice::FieldsMapped,
    ))
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

/// A mapping in words.
fn mapping_words(mapping: &BTreeMap<String, String>) -> String {
    if mapping.is_empty() {
        return "no column is filled".to_owned();
    }
    let filled = mapping
        .iter()
        .map(|(semantic, key)| format!("{semantic} from {key}"));
    filled.collect::<Vec<_>>().join(", ")
}

/// Which fields get another column, or none, when each column is filled as was typed.
fn changes(
    fields: &[IntegrationField],
    typed: &BTreeMap<String, String>,
) -> Result<Vec<FieldMapping>, FieldMappingErrors> {
    let keys: HashSet<&str> = fields.iter().map(|field| field.key.as_str()).collect();
    let mut wanted: HashMap<&str, FieldSemantic> = HashMap::new();
    let mut problems = FieldMappingErrors::new();
    for semantic in FieldSemantic::ALL {
        let key = typed.get(semantic.as_str()).map_or("", |key| key.trim());
        if key.is_empty() {
            continue;
        }
        if !keys.contains(key) {
            problems.insert(
                semantic,
                format!("No field is declared with the key {key:?}."),
            );
        } else if let Some(other) = wanted.insert(key, semantic) {
            problems.insert(
                semantic,
                format!("The field {key} fills {} already.", other.as_str()),
            );
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let is_changed =
        |field: &&IntegrationField| field.semantic != wanted.get(field.key.as_str()).copied();
    let mapping = |field: &IntegrationField| FieldMapping {
        key: field.key.clone(),
        semantic: wanted.get(field.key.as_str()).copied(),
    };
    Ok(fields.iter().filter(is_changed).map(mapping).collect())
}

/// Leaves the mapping to declarations again.
pub(super) async fn release(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: IntegrationPath,
) -> Result<Response, PageError> {
    let Integration {
        integration_id,
        name,
        ..
    } = find(&console, &person, path).await?;
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    transaction.field_release(integration_id).await?;
    let now = console.process.clock.now();
    transaction
        .activity_add(&person.0, "integration.released", &name, now)
        .await?;
    transaction.commit().await?;
    Ok(done(
        &format!("{PART}/{integration_id}/fields"),
        ActionNotice::FieldsReleased,
    ))
}

#[cfg(test)]
mod tests {
    use contract::push::FieldType;

    use super::*;

    fn field(key: &str, semantic: Option<FieldSemantic>) -> IntegrationField {
        let (label, options) = (key.to_owned(), Vec::new());
        IntegrationField {
            key: key.to_owned(),
            label,
            field_type: FieldType::Text,
            options,
            semantic,
        }
    }

    fn typed(columns: &[(&str, &str)]) -> BTreeMap<String, String> {
        columns
            .iter()
            .map(|(name, key)| ((*name).to_owned(), (*key).to_owned()))
            .collect()
    }

    #[test]
    fn only_fields_whose_column_changes_are_mapped() {
        let fields = [
            field("plz", Some(FieldSemantic::Zip)),
            field("town", None),
            field("note", None),
        ];
        assert_eq!(changes(&fields, &typed(&[("zip", "plz")])), Ok(Vec::new()));
        let mapping = |key: &str, semantic| FieldMapping {
            key: key.to_owned(),
            semantic,
        };
        assert_eq!(
            changes(&fields, &typed(&[("city", " town "), ("zip", "")])),
            Ok(vec![
                mapping("plz", None),
                mapping("town", Some(FieldSemantic::City))
            ])
        );
    }

    #[test]
    fn a_column_takes_a_declared_field_and_a_field_fills_one_column() {
        let fields = [field("a", None)];
        let problems = changes(
            &fields,
            &typed(&[("city", "a"), ("state", "a"), ("zip", "b")]),
        )
        .unwrap_err();
        assert_eq!(
            problems[&FieldSemantic::State],
            "The field a fills city already."
        );
        assert_eq!(
            problems[&FieldSemantic::Zip],
            "No field is declared with the key \"b\"."
        );
        assert!(!problems.contains_key(&FieldSemantic::City));
    }
}
