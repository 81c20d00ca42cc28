//! From the JSON document to the compiled tree.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::{
    Condition, ConditionError, Conditions, MAX_DEPTH, MAX_NODES, Node, Problem,
    compare::Test,
    operand::{Operand, Refused},
    operator::{Kind, Operator},
};
use crate::column::{BuiltIn, ColumnType, fold_name};

type Columns<'a> = &'a dyn Fn(&str) -> Option<ColumnType>;

pub(super) fn parse(document: &Json, columns: Columns<'_>) -> Result<Conditions, ConditionError> {
    let mut parser = Parser { columns, path: Vec::new(), nodes: 0, used: BTreeSet::new() };
    match parser.node(document) {
        Ok(root) => Ok(Conditions { document: document.clone(), root, columns: parser.used }),
        Err(problem) => Err(ConditionError { path: parser.path.join("."), problem }),
    }
}

struct Parser<'a> {
    columns: Columns<'a>,
    /// The steps from the root to the node being read, such as `all[1]`. After an error it stays
    /// at the place of the error.
    path: Vec<String>,
    nodes: usize,
    used: BTreeSet<String>,
}

impl Parser<'_> {
    /// A node, or `None` for a group that has no conditions in it.
    fn node(&mut self, json: &Json) -> Result<Option<Node>, Problem> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(Problem::TooMany);
        }
        if self.path.len() > MAX_DEPTH {
            return Err(Problem::TooDeep);
        }
        let object = json.as_object().ok_or(Problem::Shape)?;
        if let Some(list) = object.get("all") {
            only_keys(object, &["all"])?;
            self.group("all", list, Node::All)
        } else if let Some(list) = object.get("any") {
            only_keys(object, &["any"])?;
            self.group("any", list, Node::Any)
        } else {
            self.condition(object).map(|condition| Some(Node::Condition(condition)))
        }
    }

    fn group(
        &mut self,
        name: &'static str,
        list: &Json,
        node: fn(Vec<Node>) -> Node,
    ) -> Result<Option<Node>, Problem> {
        let items = list.as_array().ok_or(Problem::NotAList(name))?;
        let mut nodes = Vec::new();
        for (index, item) in items.iter().enumerate() {
            self.path.push(format!("{name}[{index}]"));
            nodes.extend(self.node(item)?);
            self.path.pop();
        }
        Ok((!nodes.is_empty()).then(|| node(nodes)))
    }

    fn condition(&mut self, object: &Map<String, Json>) -> Result<Condition, Problem> {
        let (Some(column), Some(operator)) = (object.get("column"), object.get("operator")) else {
            return Err(Problem::Shape);
        };
        only_keys(object, &["column", "operator", "value"])?;
        let name = column.as_str().map(str::trim).filter(|name| !name.is_empty());
        let name = name.ok_or(Problem::Column)?;
        let operator = operator.as_str().ok_or(Problem::Shape)?;
        let column = fold_name(name);
        let kinds = self.kinds(&column);
        let (test, negated) = compile(name, &kinds, operator, Operand::new(object.get("value")))?;
        self.used.insert(column.clone());
        Ok(Condition { column, test, negated })
    }

    /// The ways in which a column may be compared: one, or all of them when it is unknown.
    fn kinds(&self, column: &str) -> Vec<Kind> {
        let built_in = BuiltIn::from_name(column).map(BuiltIn::column_type);
        match built_in.or_else(|| (self.columns)(column)) {
            Some(column_type) => vec![Kind::of(column, column_type)],
            None => ColumnType::ALL.map(Kind::Typed).to_vec(),
        }
    }
}

/// The test of the first kind that takes the operator and its value, and whether it is negated.
fn compile(
    column: &str,
    kinds: &[Kind],
    operator_name: &str,
    operand: Operand<'_>,
) -> Result<(Test, bool), Problem> {
    let no_operator = || Problem::Operator {
        column: column.to_owned(),
        operator: operator_name.to_owned(),
        allowed: operators_of(kinds),
    };
    let operator = Operator::from_name(operator_name).ok_or_else(no_operator)?;
    let (positive, negated) = operator.without_not();
    let mut problem = no_operator();
    for kind in kinds {
        match Test::new(*kind, positive, operand) {
            Ok(test) => return Ok((test, negated)),
            Err(Refused::Operator) => {}
            Err(Refused::Value(expected)) => {
                problem = Problem::Value { column: column.to_owned(), operator, expected };
            }
        }
    }
    Err(problem)
}

/// The operators of any of the kinds, each once.
fn operators_of(kinds: &[Kind]) -> Vec<Operator> {
    let has = |operator: &Operator| kinds.iter().any(|kind| kind.operators().contains(operator));
    Operator::ALL.iter().copied().filter(has).collect()
}

fn only_keys(object: &Map<String, Json>, allowed: &[&str]) -> Result<(), Problem> {
    match object.keys().find(|key| !allowed.contains(&key.as_str())) {
        Some(key) => Err(Problem::UnknownKey(key.clone())),
        None => Ok(()),
    }
}
