//! Conditions in words: for pages and for the log.

use audience::Operator;
use audience::condition::{MAX_DEPTH, MAX_NODES};
use serde_json::Value;

/// A line of conditions in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionSentence {
    /// How deep it stands.
    pub depth: usize,
    /// The words.
    pub text: String,
}

impl ConditionSentence {
    /// A stored tree in words, a line for each group and condition; a condition alone gets a group around it. None of a tree
    /// without conditions.
    pub fn from_document(document: &Value) -> Vec<Self> {
        let mut sentences = Vec::new();
        let is_alone = document.get("column").is_some();
        if is_alone {
            sentences.push(Self::from_group(0, false));
        }
        add_sentences(document, usize::from(is_alone), &mut sentences);
        if sentences.len() == 1 {
            sentences.clear();
        }
        sentences
    }

    fn from_group(depth: usize, is_any: bool) -> Self {
        let text = if is_any {
            "Any of these:"
        } else {
            "All of these:"
        };
        Self {
            depth,
            text: text.to_owned(),
        }
    }
}

/// Stored trees are no deeper than allowed; what would be is left out.
fn add_sentences(document: &Value, depth: usize, sentences: &mut Vec<ConditionSentence>) {
    if depth > MAX_DEPTH || sentences.len() >= MAX_NODES {
        return;
    }
    let parts = |name: &str| document.get(name)?.as_array();
    let (is_any, parts) = match (parts("all"), parts("any")) {
        (Some(parts), _) => (false, parts),
        (None, Some(parts)) => (true, parts),
        (None, None) => {
            let text = format_condition(document);
            sentences.push(ConditionSentence { depth, text });
            return;
        }
    };
    sentences.push(ConditionSentence::from_group(depth, is_any));
    for part in parts {
        add_sentences(part, depth + 1, sentences);
    }
}

/// A condition: its column, its operator, and what that compares with.
fn format_condition(condition: &Value) -> String {
    let text = |name: &str| condition.get(name).map(format_value).unwrap_or_default();
    let (column, operator_text) = (text("column"), text("operator"));
    let operator = Operator::from_name(&operator_text);
    let name = operator
        .as_ref()
        .map_or(operator_text.as_str(), |operator| operator_name(operator));
    let list = condition.get("value").and_then(Value::as_array);
    match (operator, list) {
        (Some(Operator::IsEmpty | Operator::IsNotEmpty | Operator::AnniversaryToday), _) => {
            format!("{column} {name}")
        }
        (Some(Operator::Between), Some(ends)) => {
            let end = |at: usize| ends.get(at).map(format_value).unwrap_or_default();
            format!("{column} {name} {} and {}", end(0), end(1))
        }
        (Some(Operator::IsOneOf), Some(items)) => {
            let items: Vec<String> = items.iter().map(format_value).collect();
            format!("{column} {name} {}", items.join(", "))
        }
        _ => format!("{column} {name} {}", text("value")),
    }
}

/// A value as people write it.
fn format_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    }
}

/// What is written behind the name of a column.
pub const fn operator_name(operator: &Operator) -> &'static str {
    match operator {
        Operator::Is => "is",
        Operator::IsNot => "is not",
        Operator::Contains => "contains",
        Operator::DoesNotContain => "does not contain",
        Operator::StartsWith => "starts with",
        Operator::EndsWith => "ends with",
        Operator::IsOneOf => "is one of",
        Operator::Greater => "is greater than",
        Operator::GreaterOrEqual => "is at least",
        Operator::Less => "is less than",
        Operator::LessOrEqual => "is at most",
        Operator::Between => "is between",
        Operator::Before => "is before",
        Operator::After => "is after",
        Operator::InLastDays => "is in the last days, so many:",
        Operator::InNextDays => "is in the next days, so many:",
        Operator::AnniversaryToday => "is kept today",
        Operator::AnniversaryInNextDays => "is kept in the next days, so many:",
        Operator::AnniversaryInMonth => "is in the month",
        Operator::IsEmpty => "is empty",
        Operator::IsNotEmpty => "is not empty",
    }
}

/// Conditions in one line, for the log.
pub(crate) fn format_conditions(conditions: Option<&Value>) -> String {
    let sentences = conditions
        .map(ConditionSentence::from_document)
        .unwrap_or_default();
    if sentences.is_empty() {
        return "everybody".to_owned();
    }
    let texts = sentences.into_iter().map(|sentence| {
        let is_group = sentence.text.ends_with(':');
        if is_group {
            format!("{} ", sentence.text)
        } else {
            format!("{}; ", sentence.text)
        }
    });
    texts.collect::<String>().trim_end_matches("; ").to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_read_as_sentences() {
        let document = json!({ "all": [
            { "column": "state", "operator": "is_one_of", "value": ["TX", "OK"] },
            { "any": [{ "column": "visits", "operator": "between", "value": [1, 5] }, { "column": "email", "operator": "is_empty" }] },
        ] });
        let sentences: Vec<_> = ConditionSentence::from_document(&document)
            .into_iter()
            .map(|sentence| (sentence.depth, sentence.text))
            .collect();
        let expected = [
            (0, "All of these:"),
            (1, "state is one of TX, OK"),
            (1, "Any of these:"),
            (2, "visits is between 1 and 5"),
            (2, "email is empty"),
        ];
        assert_eq!(
            sentences,
            expected.map(|(depth, text)| (depth, text.to_owned()))
        );
        assert!(ConditionSentence::from_document(&json!({ "all": [] })).is_empty());
    }

    #[test]
    fn a_condition_alone_stands_in_a_group() {
        let document = json!({ "column": "vip", "operator": "is", "value": true });
        let texts = ConditionSentence::from_document(&document)
            .into_iter()
            .map(|sentence| sentence.text);
        assert_eq!(texts.collect::<Vec<_>>(), ["All of these:", "vip is yes"]);
    }

    #[test]
    fn a_tree_that_is_too_deep_ends_at_the_bound() {
        let mut document = json!({ "column": "city", "operator": "is", "value": "Austin" });
        for _ in 0..2 * MAX_DEPTH {
            document = json!({ "all": [document] });
        }
        assert_eq!(
            ConditionSentence::from_document(&document).len(),
            MAX_DEPTH + 1
        );
    }

    #[test]
    fn conditions_are_a_line_in_the_log() {
        let conditions = json!({ "all": [
            { "column": "city", "operator": "is", "value": "Austin" },
            { "any": [{ "column": "email", "operator": "is_empty" }] },
        ] });
        assert_eq!(
            format_conditions(Some(&conditions)),
            "All of these: city is Austin; Any of these: email is empty"
        );
        assert_eq!(format_conditions(None), "everybody");
    }
}
