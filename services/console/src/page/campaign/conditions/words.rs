//! Conditions and what is wrong with them, in the words of the form.

use audience::Operator;
use audience::condition::ConditionErrorKind;
use campaigns::operator_name;

/// What is wrong with a part of a tree: a sentence without its full stop.
pub(super) fn problem_words(problem: &ConditionErrorKind) -> String {
    match problem {
        ConditionErrorKind::Column => "Choose a column for this condition".to_owned(),
        ConditionErrorKind::Operator {
            column,
            operator,
            allowed,
        } => {
            let name = Operator::from_name(operator).map_or_else(
                || operator.clone(),
                |operator| plain_operator(&operator).to_owned(),
            );
            let allowed: Vec<String> = allowed
                .iter()
                .map(|operator| format!("\u{201c}{}\u{201d}", plain_operator(operator)))
                .collect();
            format!(
                "{} cannot be compared with \u{201c}{name}\u{201d}; it has {}",
                column_label(column),
                allowed.join(", ")
            )
        }
        ConditionErrorKind::Value {
            column,
            operator,
            expected,
        } => {
            let expected = expected.replacen("an array of", "a list of", 1);
            format!(
                "{} \u{201c}{}\u{201d}: the value {expected}",
                column_label(column),
                plain_operator(operator)
            )
        }
        ConditionErrorKind::TooDeep => "Groups stand too deep in one another here".to_owned(),
        ConditionErrorKind::Shape
        | ConditionErrorKind::UnknownKey(_)
        | ConditionErrorKind::NotAList(_)
        | ConditionErrorKind::TooMany => {
            format!("This cannot be read: it {problem}")
        }
    }
}

/// A column that the team does not have.
pub(super) fn unknown_column(name: &str) -> String {
    format!("Your team has no column named \u{201c}{name}\u{201d}")
}

/// A column as a label has it: `first_name` is First name.
fn column_label(column: &str) -> String {
    let spaced = column.replace('_', " ");
    let mut letters = spaced.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// An operator without what the form says about the value behind it.
fn plain_operator(operator: &Operator) -> &'static str {
    operator_name(operator).trim_end_matches(", so many:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_told_in_the_words_of_the_form() {
        let operator = ConditionErrorKind::Operator {
            column: "first_name".to_owned(),
            operator: "greater".to_owned(),
            allowed: vec![Operator::Is, Operator::InLastDays],
        };
        assert_eq!(
            problem_words(&operator),
            "First name cannot be compared with \u{201c}is greater than\u{201d}; it has \u{201c}is\u{201d}, \u{201c}is in the last days\u{201d}"
        );
        let value = ConditionErrorKind::Value {
            column: "Score".to_owned(),
            operator: Operator::Between,
            expected: "must be an array of two values, the lower first".to_owned(),
        };
        assert_eq!(
            problem_words(&value),
            "Score \u{201c}is between\u{201d}: the value must be a list of two values, the lower first"
        );
    }
}
