//! Declaring fields.

use std::collections::{HashMap, HashSet};

use audience::{BuiltInColumn, fold_name};
use bytes::Bytes;
use columns::TypeUses;
use contract::push::{
    DeclareAnswer, FieldSemantic, IntegrationField, LockedField, PushError, TypeLockReason,
    read_declaration,
};
use messages::PushContext;
use model::id::{IntegrationId, RequestId, TeamId};
use model::limits::DECLARED_FIELDS;
use runtime::fail_point;
use store::{ColumnKind, ColumnSource, StoreError, TeamColumn, retry_conflicts};

use crate::{SyncerState, removed_or_internal_error, to_json_bytes};

/// What a declaration comes to.
#[derive(Debug, PartialEq, Eq)]
struct MergedDeclaration {
    /// Every field of the integration, in the order of first declarations.
    fields: Vec<IntegrationField>,
    /// Fields that are new.
    added: usize,
    /// Keys of fields that stand and are not mentioned.
    no_longer_sent: Vec<String>,
}

/// A declaration.
struct FieldDeclaration {
    request_id: RequestId,
    team_id: TeamId,
    integration_id: IntegrationId,
    fields: Vec<IntegrationField>,
}

/// Declares fields and makes their columns of the address book. Sent again it changes nothing.
pub async fn declare_fields(
    syncer: &SyncerState,
    (team_id, request_id): (TeamId, RequestId),
    context: &PushContext,
    body: &[u8],
) -> Result<Bytes, PushError> {
    let declaration = FieldDeclaration {
        request_id,
        team_id,
        integration_id: context.integration_id,
        fields: read_declaration(body)?,
    };
    retry_conflicts(|| apply_declaration(syncer, &declaration))
        .await
        .map_err(removed_or_internal_error)?
}

async fn apply_declaration(
    syncer: &SyncerState,
    declaration: &FieldDeclaration,
) -> Result<Result<Bytes, PushError>, StoreError> {
    let FieldDeclaration {
        request_id,
        team_id,
        integration_id,
        fields: ref sent,
    } = *declaration;
    let now = syncer.process.clock.now();
    let mut connection = syncer.process.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let stored = transaction.lock_fields(integration_id).await?;
    // A worker that died before its reply has added them already.
    let added_before = transaction
        .count_fields_added_by(integration_id, request_id)
        .await?;
    let mapped = transaction.list_owner_mapped_keys(integration_id).await?;
    let declared = match merge_fields(stored, sent, &mapped) {
        Ok(declared) => declared,
        Err(error) => return Ok(Err(error)),
    };
    let columns = transaction.lock_columns(team_id).await?;
    let retyped = find_retyped_fields(sent, &columns);
    // Nothing is read of campaigns while types stay, as they do in almost every declaration.
    let uses = match retyped.is_empty() {
        true => None,
        false => Some(TypeUses::load(&transaction, team_id, &columns).await?),
    };
    let locked = find_locked_fields(&retyped, uses.as_ref());
    if !locked.is_empty() {
        return Ok(Err(PushError::FieldLocked { fields: locked }));
    }
    transaction
        .declare_columns(team_id, &wanted_columns(sent), now)
        .await?;
    transaction
        .save_fields(integration_id, &declared.fields, request_id, now)
        .await?;
    transaction.commit().await?;
    fail_point::fail_if_chosen("push.declared");
    let MergedDeclaration {
        added,
        no_longer_sent,
        ..
    } = declared;
    let added = added + usize::try_from(added_before).unwrap_or(0);
    Ok(Ok(to_json_bytes(&DeclareAnswer {
        ok: true,
        added,
        no_longer_sent,
    })))
}

/// Puts a declaration over the fields that stand. A field that is not mentioned stays, but gives its semantic to one
/// that claims it now: it is no longer sent, and the new one takes its place. What the owner has mapped stays so: those
/// fields keep their semantics, and no other field gets one of these.
fn merge_fields(
    stored: Vec<IntegrationField>,
    sent: &[IntegrationField],
    mapped_by_owner: &HashSet<String>,
) -> Result<MergedDeclaration, PushError> {
    let kept: HashSet<FieldSemantic> = stored
        .iter()
        .filter(|field| mapped_by_owner.contains(&field.key))
        .filter_map(|field| field.semantic)
        .collect();
    let allowed = |sent: &IntegrationField| IntegrationField {
        semantic: sent.semantic.filter(|semantic| !kept.contains(semantic)),
        ..sent.clone()
    };
    let by_key: HashMap<&str, &IntegrationField> = sent
        .iter()
        .map(|field| (field.key.as_str(), field))
        .collect();
    let claimed: HashSet<_> = sent
        .iter()
        .filter(|field| !mapped_by_owner.contains(&field.key))
        .filter_map(|field| field.semantic)
        .collect();
    let stored_keys: HashSet<String> = stored.iter().map(|field| field.key.clone()).collect();
    let stored_names: HashMap<String, String> = stored
        .iter()
        .map(|field| (fold_name(&field.key), field.key.clone()))
        .collect();
    let mut no_longer_sent = Vec::new();
    let mut fields: Vec<IntegrationField> = stored
        .into_iter()
        .map(|mut field| {
            let is_mapped = mapped_by_owner.contains(&field.key);
            match by_key.get(field.key.as_str()) {
                Some(sent) if is_mapped => IntegrationField {
                    semantic: field.semantic,
                    ..(*sent).clone()
                },
                Some(sent) => allowed(sent),
                None => {
                    no_longer_sent.push(field.key.clone());
                    let stays = |semantic: &FieldSemantic| is_mapped || !claimed.contains(semantic);
                    field.semantic = field.semantic.filter(stays);
                    field
                }
            }
        })
        .collect();
    let new: Vec<&IntegrationField> = sent
        .iter()
        .filter(|field| !stored_keys.contains(&field.key))
        .collect();
    for field in &new {
        if let Some(other) = stored_names.get(&fold_name(&field.key)) {
            return Err(PushError::InvalidRequest(format!(
                "The field {} would fill the same column as the declared field {other}.",
                field.key
            )));
        }
    }
    let added = new.len();
    fields.extend(new.into_iter().map(allowed));
    if fields.len() > DECLARED_FIELDS {
        return Err(PushError::TooManyFields {
            received: fields.len(),
        });
    }
    Ok(MergedDeclaration {
        fields,
        added,
        no_longer_sent,
    })
}

/// The fields whose type differs from that of the column of their name, with the column.
fn find_retyped_fields<'a>(
    sent: &'a [IntegrationField],
    columns: &'a [TeamColumn],
) -> Vec<(&'a IntegrationField, &'a TeamColumn)> {
    let by_name: HashMap<&str, &TeamColumn> = columns
        .iter()
        .map(|column| (column.name_key.as_str(), column))
        .collect();
    let with_column =
        |field: &'a IntegrationField| Some((field, *by_name.get(fold_name(&field.key).as_str())?));
    let differs = |(field, column): &(&IntegrationField, &TeamColumn)| {
        column.column_type != field.field_type.column_type()
    };
    sent.iter()
        .filter_map(with_column)
        .filter(differs)
        .collect()
}

/// Those of them whose column keeps its type, since the owner has set it or something uses the column as it is.
fn find_locked_fields(
    retyped: &[(&IntegrationField, &TeamColumn)],
    uses: Option<&TypeUses>,
) -> Vec<LockedField> {
    let why = |field: &IntegrationField, column: &TeamColumn| {
        if column.is_locked || column.kind != ColumnKind::Custom {
            return Some(TypeLockReason::Owner);
        }
        uses?.type_lock_reason(&column.name_key, field.field_type.column_type())
    };
    let locked = |(field, column): &(&IntegrationField, &TeamColumn)| {
        Some(LockedField {
            key: field.key.clone(),
            why: why(field, column)?,
        })
    };
    retyped.iter().filter_map(locked).collect()
}

/// The columns that fields fill. Those with a semantic fill a built-in one.
fn wanted_columns(sent: &[IntegrationField]) -> Vec<TeamColumn> {
    sent.iter()
        .filter(|field| field.semantic.is_none() && BuiltInColumn::from_name(&field.key).is_none())
        .map(|field| {
            let column_type = field.field_type.column_type();
            TeamColumn::new(
                &field.key,
                column_type,
                ColumnKind::Custom,
                ColumnSource::Integration,
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use audience::ColumnType;
    use contract::push::FieldType;

    use super::*;

    fn build_field(key: &str, semantic: Option<FieldSemantic>) -> IntegrationField {
        let (label, options) = (key.to_owned(), Vec::new());
        IntegrationField {
            key: key.to_owned(),
            label,
            field_type: FieldType::Text,
            options,
            semantic,
        }
    }

    #[test]
    fn a_declaration_adds_and_changes_and_lists_what_it_does_not_mention() {
        let stored = vec![
            build_field("mail", Some(FieldSemantic::Email)),
            build_field("city", Some(FieldSemantic::City)),
            build_field("a", None),
        ];
        let sent = [
            build_field("e-mail", Some(FieldSemantic::Email)),
            build_field("a", Some(FieldSemantic::Zip)),
        ];
        let declared = merge_fields(stored, &sent, &HashSet::new()).unwrap();
        assert_eq!(declared.added, 1);
        assert_eq!(declared.no_longer_sent, ["mail", "city"]);
        assert_eq!(
            declared.fields,
            [
                build_field("mail", None),
                build_field("city", Some(FieldSemantic::City)),
                build_field("a", Some(FieldSemantic::Zip)),
                build_field("e-mail", Some(FieldSemantic::Email)),
            ]
        );
    }

    #[test]
    fn what_the_owner_has_mapped_stays_so_whatever_is_declared() {
        let stored = vec![
            build_field("given", Some(FieldSemantic::FirstName)),
            build_field("plz", Some(FieldSemantic::Zip)),
            build_field("town", None),
        ];
        let mapped = ["given", "town"].map(str::to_owned).into();
        let sent = [
            build_field("name", Some(FieldSemantic::FirstName)),
            build_field("town", Some(FieldSemantic::City)),
            build_field("postcode", Some(FieldSemantic::Zip)),
        ];
        let declared = merge_fields(stored, &sent, &mapped).unwrap();
        assert_eq!(
            declared.fields,
            [
                build_field("given", Some(FieldSemantic::FirstName)),
                build_field("plz", None),
                build_field("town", None),
                build_field("name", None),
                build_field("postcode", Some(FieldSemantic::Zip)),
            ]
        );
        assert_eq!(declared.no_longer_sent, ["given", "plz"]);
    }

    #[test]
    fn too_many_fields_counts_those_declared_before() {
        let stored: Vec<_> = (0..600)
            .map(|number| build_field(&format!("old{number}"), None))
            .collect();
        let sent: Vec<_> = (0..401)
            .map(|number| build_field(&format!("new{number}"), None))
            .collect();
        assert_eq!(
            merge_fields(stored.clone(), &sent, &HashSet::new()),
            Err(PushError::TooManyFields { received: 1001 })
        );
        assert_eq!(
            merge_fields(stored, &sent[..400], &HashSet::new())
                .unwrap()
                .fields
                .len(),
            1000
        );
    }

    #[test]
    fn two_fields_cannot_fill_one_column() {
        assert!(
            merge_fields(
                vec![build_field("Score", None)],
                &[build_field("score", None)],
                &HashSet::new()
            )
            .is_err()
        );
    }

    #[test]
    fn field_locked_is_a_type_that_differs_from_the_owners() {
        let column = |name, column_type, source| {
            TeamColumn::new(name, column_type, ColumnKind::Custom, source)
        };
        let columns = [
            column("Score", ColumnType::Number, ColumnSource::Owner),
            column("note", ColumnType::Text, ColumnSource::Owner),
            column("since", ColumnType::Date, ColumnSource::Api),
        ];
        let sent = [
            build_field("score", None),
            build_field("note", None),
            build_field("since", None),
            build_field("new", None),
        ];
        let locked = find_locked_fields(&find_retyped_fields(&sent, &columns), None);
        assert_eq!(
            locked,
            [LockedField {
                key: "score".to_owned(),
                why: TypeLockReason::Owner
            }]
        );
    }

    #[test]
    fn a_field_with_a_semantic_or_a_built_in_name_makes_no_column() {
        let sent = [
            build_field("mail", Some(FieldSemantic::Email)),
            build_field("Birthday", None),
            build_field("score", None),
        ];
        let names: Vec<_> = wanted_columns(&sent)
            .into_iter()
            .map(|column| column.name)
            .collect();
        assert_eq!(names, ["score"]);
    }
}
