//! The filter conditions of a campaign: as sentences, and as a form that is built by round trips.

mod count;
mod form;
mod tree;
mod words;

use audience::{ColumnType, ConditionError, FilterConditions, fold_name};
use axum::Form;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::response::Response;
use campaigns::{ConditionSentence, ConditionsProblem, SetConditionsError, check_conditions};
use model::id::CampaignId;
use serde_json::Value;
use store::TeamColumn;

use self::count::MatchCount;
pub(super) use self::form::misfit_name;
use self::form::{ConditionFormError, conditions_page};
use self::tree::{ConditionFormPart, ConditionFormTree, ConditionInput};
use super::{CampaignPath, find};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, NoticeQuery, done};
use crate::failure::PageError;
use crate::route::{self, ConsoleRoute, RouteAccess};
use crate::seen::fingerprint;
pub(super) use campaigns::operator_name;

/// Bytes of the form: the largest tree with values of a usual length.
const FORM_BYTES: usize = 2 * 1024 * 1024;

/// What there is.
pub(super) fn routes() -> Vec<ConsoleRoute> {
    let path = "/campaigns/{campaign_id}/conditions";
    vec![
        route::page(path, RouteAccess::Member, show),
        route::upload(path, RouteAccess::Manager, FORM_BYTES, change),
    ]
}

/// What the page shows of a tree.
struct ConditionsPageState {
    tree: ConditionFormTree,
    problem: Option<ConditionFormError>,
    count: Option<MatchCount>,
    /// A fingerprint of the conditions that the form was made from.
    seen: String,
    /// The conditions that stand, when somebody else has saved them meanwhile.
    overtaken: Option<Vec<ConditionSentence>>,
    /// Whether it is the campaign's own, and not what somebody typed.
    is_stored: bool,
}

/// The page.
async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: CampaignPath,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let (campaign_id, Query(noticed)) = (path?.0, noticed?);
    let campaign = console
        .process
        .store
        .find_campaign(person.0.team_id, &campaign_id)
        .await?;
    let stored = campaign.ok_or(PageError::NotFound)?.conditions;
    let tree = stored
        .as_ref()
        .map(ConditionFormTree::of)
        .unwrap_or_default();
    let columns = console.process.store.list_columns(person.0.team_id).await?;
    let shown = check(&console, &person, &campaign_id, tree, &columns).await?;
    let shown = ConditionsPageState {
        is_stored: true,
        seen: fingerprint(&stored),
        ..shown
    };
    conditions_page(
        &console,
        &person,
        &campaign_id,
        &columns,
        shown,
        noticed.notice,
    )
    .await
}

/// Why the mailer cannot use stored conditions; `None` when it can.
pub(super) fn problem(stored: &Value, columns: &[TeamColumn]) -> Option<String> {
    let types = |name: &str| column_type(columns, name);
    FilterConditions::parse(stored, types)
        .err()
        .map(|error| words::problem(&error.problem))
}

/// Adds or removes a part, counts, or saves: whatever the button says. Only saving changes the campaign.
async fn change(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: CampaignPath,
    form: Result<Form<Vec<(String, String)>>, FormRejection>,
) -> Result<Response, PageError> {
    let campaign_id = path?.0;
    find(&console, &person, &campaign_id).await?;
    let Form(fields) = form?;
    let tree = ConditionFormTree::of_form(&fields)
        .map_err(|error| PageError::Invalid(error.to_string()))?;
    let field = |wanted: &str| {
        fields
            .iter()
            .find(|(name, _)| name == wanted)
            .map_or("", |(_, value)| value)
    };
    let (pressed, seen) = (field("do"), field("seen").to_owned());
    let (verb, position) = pressed.split_once(':').unwrap_or((pressed, ""));
    if let Some(tree) = edited(verb, position.parse().unwrap_or(usize::MAX), &tree) {
        return unchecked(&console, &person, &campaign_id, tree, seen).await;
    }
    let (columns, overtaken) = match verb {
        "save" => match save(&console, &person, &campaign_id, &tree, &seen).await {
            Ok(()) => {
                return Ok(done(
                    &format!("/campaigns/{campaign_id}/conditions"),
                    ActionNotice::ConditionsSaved,
                ));
            }
            Err(SetConditionsError::Unusable { columns, .. }) => (columns, None),
            Err(SetConditionsError::Overtaken { columns, standing }) => (columns, Some(standing)),
            Err(SetConditionsError::Store(error)) => return Err(error.into()),
        },
        _ => (
            console.process.store.list_columns(person.0.team_id).await?,
            None,
        ),
    };
    let shown = check(&console, &person, &campaign_id, tree, &columns).await?;
    let shown = match overtaken {
        None => ConditionsPageState { seen, ..shown },
        Some(standing) => {
            let sentences = standing
                .as_ref()
                .map(ConditionSentence::from_document)
                .unwrap_or_default();
            ConditionsPageState {
                seen: fingerprint(&standing),
                overtaken: Some(sentences),
                ..shown
            }
        }
    };
    conditions_page(&console, &person, &campaign_id, &columns, shown, None).await
}

/// The tree with what a button adds or removes; `None` for a button that does neither.
fn edited(verb: &str, position: usize, tree: &ConditionFormTree) -> Option<ConditionFormTree> {
    let mut tree = tree.clone();
    match verb {
        "add-condition" => {
            let operator = audience::Operator::Is.as_str().to_owned();
            tree.add(
                position,
                ConditionFormPart::Condition(ConditionInput {
                    operator,
                    ..ConditionInput::default()
                }),
            );
        }
        "add-group" => tree.add(position, ConditionFormPart::Group { is_any: true }),
        "remove" => tree.remove(position),
        "columns" => {}
        _ => return None,
    }
    Some(tree)
}

/// While parts come and go nothing is held against those that are not filled in yet.
async fn unchecked(
    console: &ConsoleState,
    person: &CurrentMember,
    campaign_id: &CampaignId,
    tree: ConditionFormTree,
    seen: String,
) -> Result<Response, PageError> {
    let columns = console.process.store.list_columns(person.0.team_id).await?;
    let shown = ConditionsPageState {
        tree,
        problem: None,
        count: None,
        seen,
        overtaken: None,
        is_stored: false,
    };
    conditions_page(console, person, campaign_id, &columns, shown, None).await
}

/// Says what is wrong with a tree, or how many match it.
async fn check(
    console: &ConsoleState,
    person: &CurrentMember,
    campaign_id: &CampaignId,
    tree: ConditionFormTree,
    columns: &[TeamColumn],
) -> Result<ConditionsPageState, PageError> {
    let (problem, count) = match read(&tree, columns) {
        Ok(conditions) => (
            None,
            Some(MatchCount::of(console, person, campaign_id, conditions, columns).await?),
        ),
        Err(problem) => (Some(problem), None),
    };
    Ok(ConditionsPageState {
        tree,
        problem,
        count,
        seen: String::new(),
        overtaken: None,
        is_stored: false,
    })
}

/// The tree as the mailer reads it.
fn read(
    tree: &ConditionFormTree,
    columns: &[TeamColumn],
) -> Result<FilterConditions, ConditionFormError> {
    let types = |name: &str| column_type(columns, name);
    check_conditions(&tree.document(types), types).map_err(|problem| match problem {
        ConditionsProblem::Condition(ConditionError { path, problem }) => ConditionFormError {
            position: tree.position(&path).unwrap_or(0),
            sentence: words::problem(&problem),
        },
        ConditionsProblem::UnknownColumn(name) => {
            let uses = |node: &tree::ConditionFormNode| matches!(&node.part, ConditionFormPart::Condition(typed) if fold_name(&typed.column) == name);
            ConditionFormError {
                position: tree.nodes().iter().position(uses).unwrap_or(0),
                sentence: words::unknown_column(&name),
            }
        }
    })
}

/// The type of a column of the team's by its name, whatever its case.
fn column_type(columns: &[TeamColumn], name: &str) -> Option<ColumnType> {
    let key = fold_name(name);
    columns
        .iter()
        .find(|column| column.name_key == key)
        .map(|column| column.column_type)
}

async fn save(
    console: &ConsoleState,
    person: &CurrentMember,
    campaign_id: &CampaignId,
    tree: &ConditionFormTree,
    seen: &str,
) -> Result<(), SetConditionsError> {
    let document = |columns: &[TeamColumn]| {
        (!tree.is_empty()).then(|| tree.document(|name| column_type(columns, name)))
    };
    campaigns::set_campaign_conditions(
        &console.process.store,
        person.actor(),
        person.0.team_id,
        campaign_id,
        |standing| fingerprint(standing) == seen,
        document,
        console.process.clock.now(),
    )
    .await
}
