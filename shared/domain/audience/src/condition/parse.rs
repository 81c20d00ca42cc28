//! From the JSON document to the compiled tree.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::{
    ColumnCondition, ConditionNode, FilterConditions,
    compare::ValueTest,
    error::{ConditionError, ConditionErrorKind},
    limits::{MAX_DEPTH, MAX_NODES},
    operand::{ConditionOperand, OperandError},
    operator::{ComparisonKind, Operator},
};
use crate::column::{BuiltInColumn, ColumnType, fold_name};

type ColumnTypeFinder<'a> = &'a dyn Fn(&str) -> Option<ColumnType>;

pub(super) fn parse(
    document: &Json,
    columns: ColumnTypeFinder<'_>,
) -> Result<FilterConditions, ConditionError> {
    let mut parser = ConditionParser {
        columns,
        path: Vec::new(),
        nodes: 0,
        used: BTreeSet::new(),
    };
    match parser.parse_node(document) {
        Ok(root) => Ok(FilterConditions {
            document: document.clone(),
            root,
            columns: parser.used,
        }),
        Err(problem) => Err(ConditionError {
            path: parser.path.join("."),
            problem,
        }),
    }
}

struct ConditionParser<'a> {
    columns: ColumnTypeFinder<'a>,
    /// The steps from the root to the node being read, such as `all[1]`. After an error it stays
    /// at the place of the error.
    path: Vec<String>,
    nodes: usize,
    used: BTreeSet<String>,
}

impl ConditionParser<'_> {
    /// A node, or `None` for a group that has no conditions in it.
    fn parse_node(&mut self, json: &Json) -> Result<Option<ConditionNode>, ConditionErrorKind> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(ConditionErrorKind::TooMany);
        }
        if self.path.len() > MAX_DEPTH {
            return Err(ConditionErrorKind::TooDeep);
        }
        let object = json.as_object().ok_or(ConditionErrorKind::Shape)?;
        if let Some(list) = object.get("all") {
            check_keys(object, &["all"])?;
            self.parse_group("all", list, ConditionNode::All)
        } else if let Some(list) = object.get("any") {
            check_keys(object, &["any"])?;
            self.parse_group("any", list, ConditionNode::Any)
        } else {
            self.parse_condition(object)
                .map(|condition| Some(ConditionNode::Condition(condition)))
        }
    }

    fn parse_group(
        &mut self,
        name: &'static str,
        list: &Json,
        node: fn(Vec<ConditionNode>) -> ConditionNode,
    ) -> Result<Option<ConditionNode>, ConditionErrorKind> {
        let items = list.as_array().ok_or(ConditionErrorKind::NotAList(name))?;
        let mut nodes = Vec::new();
        for (index, item) in items.iter().enumerate() {
            self.path.push(format!("{name}[{index}]"));
            nodes.extend(self.parse_node(item)?);
            self.path.pop();
        }
        Ok((!nodes.is_empty()).then(|| node(nodes)))
    }

    fn parse_condition(
        &mut self,
        object: &Map<String, Json>,
    ) -> Result<ColumnCondition, ConditionErrorKind> {
        let (Some(column), Some(operator)) = (object.get("column"), object.get("operator")) else {
            return Err(ConditionErrorKind::Shape);
        };
        check_keys(object, &["column", "operator", "value"])?;
        let name = column
            .as_str()
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let name = name.ok_or(ConditionErrorKind::Column)?;
        let operator = operator.as_str().ok_or(ConditionErrorKind::Shape)?;
        let column = fold_name(name);
        let kinds = self.comparison_kinds(&column);
        let (test, negated) = compile_test(
            name,
            &kinds,
            operator,
            ConditionOperand::new(object.get("value")),
        )?;
        self.used.insert(column.clone());
        Ok(ColumnCondition {
            column,
            test,
            negated,
        })
    }

    /// The ways in which a column may be compared: one, or all of them when it is unknown.
    fn comparison_kinds(&self, column: &str) -> Vec<ComparisonKind> {
        let built_in = BuiltInColumn::from_name(column).map(BuiltInColumn::column_type);
        match built_in.or_else(|| (self.columns)(column)) {
            Some(column_type) => vec![ComparisonKind::for_column(column, column_type)],
            None => ColumnType::ALL.map(ComparisonKind::Typed).to_vec(),
        }
    }
}

/// The test of the first kind that takes the operator and its value, and whether it is negated.
fn compile_test(
    column: &str,
    kinds: &[ComparisonKind],
    operator_name: &str,
    operand: ConditionOperand<'_>,
) -> Result<(ValueTest, bool), ConditionErrorKind> {
    let no_operator = || ConditionErrorKind::Operator {
        column: column.to_owned(),
        operator: operator_name.to_owned(),
        allowed: list_operators(kinds),
    };
    let operator = Operator::from_name(operator_name).ok_or_else(no_operator)?;
    let (positive, negated) = operator.split_negation();
    let mut problem = no_operator();
    for kind in kinds {
        match ValueTest::new(*kind, positive, operand) {
            Ok(test) => return Ok((test, negated)),
            Err(OperandError::Operator) => {}
            Err(OperandError::Value(expected)) => {
                problem = ConditionErrorKind::Value {
                    column: column.to_owned(),
                    operator,
                    expected,
                };
            }
        }
    }
    Err(problem)
}

/// The operators of any of the kinds, each once.
fn list_operators(kinds: &[ComparisonKind]) -> Vec<Operator> {
    let has = |operator: &Operator| kinds.iter().any(|kind| kind.operators().contains(operator));
    Operator::ALL.iter().copied().filter(has).collect()
}

fn check_keys(object: &Map<String, Json>, allowed: &[&str]) -> Result<(), ConditionErrorKind> {
    match object.keys().find(|key| !allowed.contains(&key.as_str())) {
        Some(key) => Err(ConditionErrorKind::UnknownKey(key.clone())),
        None => Ok(()),
    }
}
