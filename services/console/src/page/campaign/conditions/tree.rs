//! A tree of conditions while people change it: its groups and conditions in their order, each with the group that it is in.
//! A condition holds what was typed, right or not.

use audience::condition::{MAX_DEPTH, MAX_NODES};
use audience::{ColumnType, Operator};
use serde_json::{Map, Number, Value, json};

/// What an operator takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConditionFormOperand {
    /// Nothing.
    None,
    /// One value.
    One,
    /// The first and the last of a range.
    Range,
    /// Several, one on a line.
    List,
}

/// What an operator of this name takes; one that nobody knows, one value.
pub(super) fn operand_of(operator: &str) -> ConditionFormOperand {
    match Operator::from_name(operator) {
        Some(Operator::IsEmpty | Operator::IsNotEmpty | Operator::AnniversaryToday) => {
            ConditionFormOperand::None
        }
        Some(Operator::Between) => ConditionFormOperand::Range,
        Some(Operator::IsOneOf) => ConditionFormOperand::List,
        _ => ConditionFormOperand::One,
    }
}

/// A group or a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConditionFormPart {
    /// All of its parts are to hold, or any.
    Group {
        /// Whether one is enough.
        is_any: bool,
    },
    /// A condition as typed.
    Condition(ConditionInput),
}

/// A condition as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ConditionInput {
    /// The column's name.
    pub(super) column: String,
    /// The operator's name.
    pub(super) operator: String,
    /// The value, the first of a range, or a list with one on each line.
    pub(super) value: String,
    /// The last of a range.
    pub(super) until: String,
}

/// A part and the position of its group, which stands before it; the first part is the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConditionFormNode {
    pub(super) parent: usize,
    pub(super) depth: usize,
    pub(super) part: ConditionFormPart,
}

/// The tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConditionFormTree {
    nodes: Vec<ConditionFormNode>,
}

/// The form does not hold a tree.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ConditionFormTreeError {
    /// It was not made by the page.
    #[error("The conditions could not be read. Go back, reload the page and try again.")]
    Form,
    /// There are more parts than a tree may have.
    #[error("A campaign has at most {MAX_NODES} groups and conditions. Nothing was saved.")]
    TooMany,
    /// A group stands deeper than a tree may go.
    #[error("Groups can be nested at most {MAX_DEPTH} deep. Nothing was saved.")]
    TooDeep,
}

impl Default for ConditionFormTree {
    fn default() -> Self {
        Self {
            nodes: vec![ConditionFormNode {
                parent: 0,
                depth: 0,
                part: ConditionFormPart::Group { is_any: false },
            }],
        }
    }
}

impl ConditionFormTree {
    /// The stored tree. One that is a single condition gets a group around it.
    pub(super) fn of(document: &Value) -> Self {
        let mut tree = Self { nodes: Vec::new() };
        if document.get("column").is_some() {
            tree = Self::default();
        }
        tree.read_part(document, 0, tree.nodes.len());
        if tree.nodes.is_empty() {
            Self::default()
        } else {
            tree
        }
    }

    /// Stored trees are no deeper than allowed; what would be is left out.
    fn read_part(&mut self, document: &Value, parent: usize, depth: usize) {
        if depth > MAX_DEPTH || self.nodes.len() >= MAX_NODES {
            return;
        }
        let group = ["all", "any"]
            .into_iter()
            .find_map(|name| Some((name, document.get(name)?.as_array()?)));
        let Some((name, parts)) = group else {
            self.nodes.push(ConditionFormNode {
                parent,
                depth,
                part: ConditionFormPart::Condition(condition_input(document)),
            });
            return;
        };
        let position = self.nodes.len();
        self.nodes.push(ConditionFormNode {
            parent,
            depth,
            part: ConditionFormPart::Group {
                is_any: name == "any",
            },
        });
        for part in parts {
            self.read_part(part, position, depth + 1);
        }
    }

    /// The tree of a form: fields named `part.POSITION.NAME`.
    ///
    /// # Errors
    /// [`ConditionFormTreeError`] when the form was not made by the page.
    pub(super) fn of_form(fields: &[(String, String)]) -> Result<Self, ConditionFormTreeError> {
        let mut nodes: Vec<ConditionFormNode> = Vec::new();
        for (name, value) in fields {
            let Some((position, name)) = name
                .strip_prefix("part.")
                .and_then(|rest| rest.split_once('.'))
            else {
                continue;
            };
            let position: usize = position.parse().map_err(|_| ConditionFormTreeError::Form)?;
            if name == "parent" {
                let node = Self::new_node(&nodes, value)?;
                nodes.push(node);
            }
            let node = nodes
                .get_mut(position)
                .ok_or(ConditionFormTreeError::Form)?;
            match (&mut node.part, name) {
                (part, "group") => {
                    *part = ConditionFormPart::Group {
                        is_any: value == "any",
                    }
                }
                (ConditionFormPart::Condition(typed), "column") => typed.column.clone_from(value),
                (ConditionFormPart::Condition(typed), "operator") => {
                    typed.operator.clone_from(value)
                }
                (ConditionFormPart::Condition(typed), "value") => typed.value.clone_from(value),
                (ConditionFormPart::Condition(typed), "until") => typed.until.clone_from(value),
                _ => {}
            }
        }
        match nodes.first() {
            Some(ConditionFormNode {
                part: ConditionFormPart::Group { .. },
                ..
            }) => Ok(Self { nodes }),
            _ => Err(ConditionFormTreeError::Form),
        }
    }

    fn new_node(
        nodes: &[ConditionFormNode],
        parent: &str,
    ) -> Result<ConditionFormNode, ConditionFormTreeError> {
        let parent: usize = parent.parse().map_err(|_| ConditionFormTreeError::Form)?;
        let depth = match nodes {
            [] => 0,
            nodes => match nodes.get(parent) {
                Some(ConditionFormNode {
                    part: ConditionFormPart::Group { .. },
                    depth,
                    ..
                }) => depth + 1,
                _ => return Err(ConditionFormTreeError::Form),
            },
        };
        if nodes.len() >= MAX_NODES {
            return Err(ConditionFormTreeError::TooMany);
        }
        if depth > MAX_DEPTH {
            return Err(ConditionFormTreeError::TooDeep);
        }
        Ok(ConditionFormNode {
            parent,
            depth,
            part: ConditionFormPart::Condition(ConditionInput::default()),
        })
    }

    /// Its parts in their order, the root first.
    pub(super) fn nodes(&self) -> &[ConditionFormNode] {
        &self.nodes
    }

    /// Whether there is no condition and no further group.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Whether a part can still be put into this group.
    pub(super) fn has_room(&self, group: usize) -> bool {
        self.nodes.len() < MAX_NODES
            && self
                .nodes
                .get(group)
                .is_some_and(|node| node.depth < MAX_DEPTH)
    }

    /// Adds a part at the end of a group; does nothing without room for it.
    pub(super) fn add_part(&mut self, group: usize, part: ConditionFormPart) {
        let Some(ConditionFormNode {
            part: ConditionFormPart::Group { .. },
            depth,
            ..
        }) = self.nodes.get(group)
        else {
            return;
        };
        if !self.has_room(group) {
            return;
        }
        let node = ConditionFormNode {
            parent: group,
            depth: depth + 1,
            part,
        };
        let end = self.end_of(group);
        self.nodes.insert(end, node);
        for later in &mut self.nodes[end + 1..] {
            later.parent += usize::from(later.parent >= end);
        }
    }

    /// Takes a part out with all that is in it. The root stays.
    pub(super) fn remove_part(&mut self, position: usize) {
        if position == 0 || position >= self.nodes.len() {
            return;
        }
        let end = self.end_of(position);
        self.nodes.drain(position..end);
        let removed = end - position;
        for later in &mut self.nodes[position..] {
            later.parent -= if later.parent >= end { removed } else { 0 };
        }
    }

    /// The position behind the last part of a part.
    fn end_of(&self, position: usize) -> usize {
        let depth = self.nodes[position].depth;
        let behind = &self.nodes[position + 1..];
        position + 1 + behind.iter().take_while(|node| node.depth > depth).count()
    }

    /// The document. `types` gives the type of a column by its name.
    pub(super) fn to_document(&self, types: impl Fn(&str) -> Option<ColumnType>) -> Value {
        // From the last to the first: a group's parts stand behind it.
        let mut children: Vec<Vec<Value>> = vec![Vec::new(); self.nodes.len()];
        for (position, node) in self.nodes.iter().enumerate().rev() {
            let value = match &node.part {
                ConditionFormPart::Group { is_any } => {
                    let mut parts = std::mem::take(&mut children[position]);
                    parts.reverse();
                    let name = if *is_any { "any" } else { "all" };
                    Value::Object(Map::from_iter([(name.to_owned(), Value::Array(parts))]))
                }
                ConditionFormPart::Condition(typed) => typed.to_document(types(&typed.column)),
            };
            if position == 0 {
                return value;
            }
            children[node.parent].push(value);
        }
        json!({ "all": [] })
    }

    /// The position of the part at a place of the document, such as `all[1].any[0]`.
    pub(super) fn position_of(&self, path: &str) -> Option<usize> {
        let mut position = 0;
        for step in path.split('.').filter(|step| !step.is_empty()) {
            let nth: usize = step.split_once('[')?.1.strip_suffix(']')?.parse().ok()?;
            let mut children = self
                .nodes
                .iter()
                .enumerate()
                .skip(1)
                .filter(|(_, node)| node.parent == position);
            position = children.nth(nth)?.0;
        }
        Some(position)
    }
}

impl ConditionInput {
    fn to_document(&self, column_type: Option<ColumnType>) -> Value {
        let mut condition = Map::new();
        condition.insert("column".to_owned(), self.column.trim().into());
        condition.insert("operator".to_owned(), self.operator.as_str().into());
        let scalar = |text: &str| scalar_value(text, column_type);
        let value = match operand_of(&self.operator) {
            ConditionFormOperand::None => return Value::Object(condition),
            ConditionFormOperand::One => scalar(&self.value),
            ConditionFormOperand::Range => {
                json!([scalar(&self.value), scalar(&self.until)])
            }
            ConditionFormOperand::List => {
                let lines = self
                    .value
                    .lines()
                    .map(str::trim)
                    .filter(|line| !line.is_empty());
                lines.map(Value::from).collect()
            }
        };
        condition.insert("value".to_owned(), value);
        Value::Object(condition)
    }
}

/// A value as files have it: a number of a number column as a number.
fn scalar_value(text: &str, column_type: Option<ColumnType>) -> Value {
    let text = text.trim();
    let number = || {
        serde_json::from_str::<Number>(text)
            .ok()
            .filter(|number| number.to_string() == text)
    };
    match column_type {
        Some(ColumnType::Number) => number().map_or_else(|| text.into(), Value::Number),
        _ => text.into(),
    }
}

fn condition_input(document: &Value) -> ConditionInput {
    let text = |name: &str| document.get(name).map(value_text).unwrap_or_default();
    let operator = text("operator");
    let (value, until) = match (operand_of(&operator), document.get("value")) {
        (ConditionFormOperand::Range, Some(Value::Array(ends))) => {
            let end = |at: usize| ends.get(at).map(value_text).unwrap_or_default();
            (end(0), end(1))
        }
        (ConditionFormOperand::List, Some(Value::Array(items))) => (
            items.iter().map(value_text).collect::<Vec<_>>().join("\n"),
            String::new(),
        ),
        (_, value) => (value.map(value_text).unwrap_or_default(), String::new()),
    };
    ConditionInput {
        column: text("column"),
        operator,
        value,
        until,
    }
}

/// A value as people write it.
fn value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
