//! The filter conditions of a campaign: as sentences, and as a form that is built by round trips.

mod count;
mod form;
mod tree;
mod words;

use audience::{ColumnType, ConditionError, FilterConditions, fold_name};
use axum::Form;
use campaigns::{ConditionSentence, ConditionsProblem, SetConditionsError, check_conditions};
use model::id::CampaignId;
use serde_json::Value;
use store::TeamColumn;

use self::count::MatchCount;
use self::form::{ConditionFormError, conditions_page};
use self::tree::{ConditionFormPart, ConditionFormTree, ConditionInput};
use super::{CampaignPath, find_campaign};
use crate::extract::{FormResult, MemberContext, PagePath};
use crate::fingerprint::fingerprint_of;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::{PageError, PageResult};

/// Bytes of the form: the largest tree with values of a usual length.
pub(crate) const FORM_BYTES: usize = 2 * 1024 * 1024;

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
pub(crate) async fn show_conditions(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    let campaign = context
        .store()
        .find_campaign(context.team_id(), &campaign_id)
        .await?;
    let stored = campaign.ok_or(PageError::NotFound)?.conditions;
    let tree = stored
        .as_ref()
        .map(ConditionFormTree::of)
        .unwrap_or_default();
    let columns = context.store().list_columns(context.team_id()).await?;
    let shown = check_tree(&context, &campaign_id, tree, &columns).await?;
    let shown = ConditionsPageState {
        is_stored: true,
        seen: fingerprint_of(&stored),
        ..shown
    };
    conditions_page(&context, &campaign_id, &columns, shown).await
}

/// Why the mailer cannot use stored conditions; `None` when it can.
pub(super) fn conditions_problem(stored: &Value, columns: &[TeamColumn]) -> Option<String> {
    let types = |name: &str| column_type(columns, name);
    FilterConditions::parse(stored, types)
        .err()
        .map(|error| words::problem_words(&error.problem))
}

/// Why conditions cannot be used: a sentence without its full stop.
pub(super) fn condition_problem_words(problem: &ConditionsProblem) -> String {
    match problem {
        ConditionsProblem::Condition(error) => words::problem_words(&error.problem),
        ConditionsProblem::UnknownColumn(name) => words::unknown_column(name),
    }
}

/// Adds or removes a part, counts, or saves: whatever the button says. Only saving changes the campaign.
pub(crate) async fn change_conditions(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
    form: FormResult<Vec<(String, String)>>,
) -> PageResult {
    find_campaign(&context, &campaign_id).await?;
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
    if let Some(tree) = edited_tree(verb, position.parse().unwrap_or(usize::MAX), &tree) {
        return unchecked_page(&context, &campaign_id, tree, seen).await;
    }
    let (columns, overtaken) = match verb {
        "save" => match save_tree(&context, &campaign_id, &tree, &seen).await {
            Ok(()) => {
                return Ok(redirect_with_notice(
                    &format!("/campaigns/{campaign_id}/conditions"),
                    ActionNotice::ConditionsSaved,
                ));
            }
            Err(SetConditionsError::Unusable { columns, .. }) => (columns, None),
            Err(SetConditionsError::Overtaken { columns, standing }) => (columns, Some(standing)),
            Err(SetConditionsError::Store(error)) => return Err(error.into()),
        },
        _ => (context.store().list_columns(context.team_id()).await?, None),
    };
    let shown = check_tree(&context, &campaign_id, tree, &columns).await?;
    let shown = match overtaken {
        None => ConditionsPageState { seen, ..shown },
        Some(standing) => {
            let sentences = standing
                .as_ref()
                .map(ConditionSentence::from_document)
                .unwrap_or_default();
            ConditionsPageState {
                seen: fingerprint_of(&standing),
                overtaken: Some(sentences),
                ..shown
            }
        }
    };
    conditions_page(&context, &campaign_id, &columns, shown).await
}

/// The tree with what a button adds or removes; `None` for a button that does neither.
fn edited_tree(verb: &str, position: usize, tree: &ConditionFormTree) -> Option<ConditionFormTree> {
    let mut tree = tree.clone();
    match verb {
        "add-condition" => {
            let operator = audience::Operator::Is.as_str().to_owned();
            tree.add_part(
                position,
                ConditionFormPart::Condition(ConditionInput {
                    operator,
                    ..ConditionInput::default()
                }),
            );
        }
        "add-group" => tree.add_part(position, ConditionFormPart::Group { is_any: true }),
        "remove" => tree.remove_part(position),
        "columns" => {}
        _ => return None,
    }
    Some(tree)
}

/// While parts come and go nothing is held against those that are not filled in yet.
async fn unchecked_page(
    context: &MemberContext,
    campaign_id: &CampaignId,
    tree: ConditionFormTree,
    seen: String,
) -> PageResult {
    let columns = context.store().list_columns(context.team_id()).await?;
    let shown = ConditionsPageState {
        tree,
        problem: None,
        count: None,
        seen,
        overtaken: None,
        is_stored: false,
    };
    conditions_page(context, campaign_id, &columns, shown).await
}

/// Says what is wrong with a tree, or how many match it.
async fn check_tree(
    context: &MemberContext,
    campaign_id: &CampaignId,
    tree: ConditionFormTree,
    columns: &[TeamColumn],
) -> Result<ConditionsPageState, PageError> {
    let (problem, count) = match read_tree(&tree, columns) {
        Ok(conditions) => (
            None,
            Some(MatchCount::of(context, campaign_id, conditions, columns).await?),
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
fn read_tree(
    tree: &ConditionFormTree,
    columns: &[TeamColumn],
) -> Result<FilterConditions, ConditionFormError> {
    let types = |name: &str| column_type(columns, name);
    check_conditions(&tree.to_document(types), types).map_err(|problem| match problem {
        ConditionsProblem::Condition(ConditionError { path, problem }) => ConditionFormError {
            position: tree.position_of(&path).unwrap_or(0),
            sentence: words::problem_words(&problem),
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

async fn save_tree(
    context: &MemberContext,
    campaign_id: &CampaignId,
    tree: &ConditionFormTree,
    seen: &str,
) -> Result<(), SetConditionsError> {
    let document = |columns: &[TeamColumn]| {
        (!tree.is_empty()).then(|| tree.to_document(|name| column_type(columns, name)))
    };
    campaigns::set_campaign_conditions(
        context.store(),
        context.actor(),
        context.team_id(),
        campaign_id,
        |standing| fingerprint_of(standing) == seen,
        document,
        context.now(),
    )
    .await
}
