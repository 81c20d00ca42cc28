//! The form of conditions, and conditions in words.

use askama::Template;
use audience::condition::operators_for;
use audience::{BuiltInColumn, ColumnType, Operator};
use campaigns::{ConditionSentence, operator_name};
use model::id::CampaignId;
use store::{CampaignSummary, TeamColumn};

use super::tree::{
    ConditionFormNode, ConditionFormOperand, ConditionFormPart, ConditionFormTree, ConditionInput,
    operand_of,
};
use super::{ConditionsPageState, column_type};
use crate::extract::MemberContext;
use crate::frame::PageFrame;
use crate::page::campaign::{PART, find_campaign};
use crate::page_error::PageResult;
use crate::render::render_form;

/// Names of columns that the form suggests; others can be typed.
const SUGGESTED: usize = 1_000;

/// What is wrong with a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConditionFormError {
    pub(super) position: usize,
    pub(super) sentence: String,
}

/// A part as the form shows it.
struct ConditionFormRow<'a> {
    position: usize,
    node: &'a ConditionFormNode,
    /// The operators of its column.
    operators: &'static [Operator],
    /// The operator that stands there and is none of these: it is shown as it is until another is chosen.
    misfit: Option<&'a str>,
    operand: ConditionFormOperand,
    is_yes_no: bool,
    has_room: bool,
    problem: Option<&'a str>,
    /// Groups that end behind it.
    closes: usize,
}

#[derive(Template)]
#[template(path = "campaign_conditions.html")]
struct ConditionsPage<'a> {
    frame: PageFrame,
    campaign: CampaignSummary,
    lines: Vec<ConditionFormRow<'a>>,
    suggestions: Vec<&'a str>,
    count: Option<String>,
    problem: Option<&'static str>,
    seen: String,
    overtaken: Option<Vec<ConditionSentence>>,
}

/// What is said above the form when something in it is wrong.
const NOT_SAVED: &str = "Nothing was saved. See below what is to be put right.";
const NOT_USABLE: &str = "These conditions cannot be used: requests are refused and nobody is mailed until they are \
                          put right. See below.";

/// The page with this tree.
pub(super) async fn conditions_page(
    context: &MemberContext,
    campaign_id: &CampaignId,
    columns: &[TeamColumn],
    shown: ConditionsPageState,
) -> PageResult {
    let campaign = find_campaign(context, campaign_id).await?;
    let ConditionsPageState {
        tree,
        problem,
        count,
        seen,
        overtaken,
        is_stored,
    } = shown;
    let own = columns.iter().map(|column| column.name.as_str());
    let suggestions = BuiltInColumn::ALL
        .iter()
        .map(|column| column.key())
        .chain(own)
        .take(SUGGESTED)
        .collect();
    let is_refused = !is_stored && (problem.is_some() || overtaken.is_some());
    let shown = ConditionsPage {
        frame: context.frame(PART),
        campaign,
        lines: form_rows(&tree, columns, problem.as_ref()),
        suggestions,
        count: count.map(super::MatchCount::in_words),
        problem: problem
            .as_ref()
            .map(|_| if is_stored { NOT_USABLE } else { NOT_SAVED }),
        seen,
        overtaken,
    };
    Ok(render_form(&shown, is_refused))
}

fn form_rows<'a>(
    tree: &'a ConditionFormTree,
    columns: &[TeamColumn],
    problem: Option<&'a ConditionFormError>,
) -> Vec<ConditionFormRow<'a>> {
    let nodes = tree.nodes();
    let line = |(position, node): (usize, &'a ConditionFormNode)| {
        let next_depth = nodes.get(position + 1).map_or(0, |next| next.depth);
        let is_group = matches!(node.part, ConditionFormPart::Group { .. });
        let ConditionChoices {
            operators,
            misfit,
            operand,
            is_yes_no,
        } = match &node.part {
            ConditionFormPart::Group { .. } => ConditionChoices::default(),
            ConditionFormPart::Condition(typed) => ConditionChoices::of(typed, columns),
        };
        ConditionFormRow {
            position,
            node,
            operators,
            misfit,
            operand,
            is_yes_no,
            has_room: tree.has_room(position),
            problem: problem
                .filter(|problem| problem.position == position)
                .map(|problem| problem.sentence.as_str()),
            closes: (node.depth + usize::from(is_group)).saturating_sub(next_depth),
        }
    };
    nodes.iter().enumerate().map(line).collect()
}

/// What can stand in a condition.
struct ConditionChoices<'a> {
    operators: &'static [Operator],
    misfit: Option<&'a str>,
    operand: ConditionFormOperand,
    is_yes_no: bool,
}

impl Default for ConditionChoices<'_> {
    fn default() -> Self {
        Self {
            operators: &[],
            misfit: None,
            operand: ConditionFormOperand::None,
            is_yes_no: false,
        }
    }
}

impl<'a> ConditionChoices<'a> {
    /// What a condition's operator can be, and what that takes. While the column is not known it can be any.
    fn of(typed: &'a ConditionInput, columns: &[TeamColumn]) -> Self {
        let built_in = BuiltInColumn::from_name(&typed.column).map(BuiltInColumn::column_type);
        let column_type = built_in.or_else(|| column_type(columns, &typed.column));
        let operators = column_type.map_or(Operator::ALL, |column_type| {
            operators_for(&typed.column, column_type)
        });
        let is_offered = operators
            .iter()
            .any(|operator| operator.as_str() == typed.operator);
        let is_word = matches!(typed.value.as_str(), "" | "yes" | "no");
        Self {
            operators,
            misfit: Some(typed.operator.as_str())
                .filter(|operator| !is_offered && !operator.is_empty()),
            operand: operand_of(&typed.operator),
            is_yes_no: column_type == Some(ColumnType::YesNo) && is_word,
        }
    }
}

/// An operator that the condition's column does not have, for people.
fn misfit_name(operator: &str) -> String {
    let name = Operator::from_name(operator).map_or(operator, |operator| operator_name(&operator));
    format!("{name} (not for this column)")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn groups_close_where_they_end() {
        let document = json!({ "all": [{ "any": [{ "all": [] }] }, { "column": "city", "operator": "is", "value": "x" }] });
        let tree = ConditionFormTree::of(&document);
        let closes: Vec<usize> = form_rows(&tree, &[], None)
            .iter()
            .map(|line| line.closes)
            .collect();
        assert_eq!(closes, [0, 0, 2, 1]);
    }
}
