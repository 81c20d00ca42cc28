//! What people type for a campaign, read, and what is wrong with it in words.

use std::collections::HashMap;

use campaigns::{CampaignField, CampaignProblem, CampaignRule};
use model::money::Money;

use crate::format::format_number;

/// What is wrong with the fields of a form, in sentences, by the names of the fields.
#[derive(Debug, Default)]
pub(super) struct FieldProblems(HashMap<String, String>);

impl FieldProblems {
    pub(super) fn of(problems: &[CampaignProblem]) -> Self {
        let mut sentences = HashMap::new();
        for problem in problems {
            let name = field_name(problem.field);
            // The first of a field says enough.
            sentences
                .entry(name)
                .or_insert_with(|| problem_sentence(problem));
        }
        Self(sentences)
    }

    /// What is wrong with the field of this name.
    pub(super) fn of_field(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// What is wrong with this field of a step, counted from 0.
    pub(super) fn of_step(&self, step: &usize, name: &str) -> Option<&str> {
        self.of_field(&format!("step-{step}-{name}"))
    }
}

/// The name of a field in forms.
fn field_name(field: CampaignField) -> String {
    match field {
        CampaignField::Name => "name".to_owned(),
        CampaignField::Radius => "radius".to_owned(),
        CampaignField::Homes => "homes".to_owned(),
        CampaignField::ResendProtection => "resend-protection".to_owned(),
        CampaignField::Budget => "budget".to_owned(),
        CampaignField::CancelMinutes => "cancel-minutes".to_owned(),
        CampaignField::Steps => "steps".to_owned(),
        CampaignField::StepDelay(step) => format!("step-{step}-delay"),
        CampaignField::StepDesign(step) => format!("step-{step}-design"),
    }
}

fn problem_sentence(problem: &CampaignProblem) -> String {
    let count = |number: i64| format_number(number.unsigned_abs());
    match (problem.field, &problem.rule) {
        (_, CampaignRule::Unreadable(sentence)) => sentence.clone(),
        (CampaignField::Steps, CampaignRule::Range(least, most)) => {
            format!("A campaign has {least} to {most} steps.")
        }
        (_, CampaignRule::Range(least, most)) => {
            format!(
                "Choose a number from {} to {}.",
                count(*least),
                count(*most)
            )
        }
        (CampaignField::StepDelay(0), CampaignRule::DelayOrder(_)) => {
            "The first step mails at once: its delay is 0.".to_owned()
        }
        (_, CampaignRule::DelayOrder(most)) => format!(
            "Days count from the first step: choose more than the step before has, {} at the most.",
            count(*most)
        ),
        (_, CampaignRule::Taken { is_archived: false }) => {
            "Your team has a campaign of this name already.".to_owned()
        }
        (_, CampaignRule::Taken { is_archived: true }) => {
            "An archived campaign of your team has this name.".to_owned()
        }
        (_, CampaignRule::Unknown) => {
            "Your team no longer has this design: choose another.".to_owned()
        }
    }
}

/// What was typed, read field by field; what cannot be read is noted and read as nothing.
#[derive(Debug, Default)]
pub(super) struct InputReader {
    pub(super) problems: Vec<CampaignProblem>,
}

impl InputReader {
    pub(super) fn refuse(&mut self, field: CampaignField, sentence: &str) {
        let rule = CampaignRule::Unreadable(sentence.to_owned());
        self.problems.push(CampaignProblem { field, rule });
    }

    /// A whole number; `None` of an empty field.
    pub(super) fn read_number(&mut self, field: CampaignField, typed: &str) -> Option<i64> {
        let digits = typed.trim().replace(',', "");
        if digits.is_empty() {
            return None;
        }
        let number = digits.parse().ok();
        if number.is_none() {
            self.refuse(field, "Write a whole number, such as 30.");
        }
        number
    }

    /// A whole number that has to be there.
    pub(super) fn read_required_number(&mut self, field: CampaignField, typed: &str) -> i64 {
        if typed.trim().is_empty() {
            self.refuse(field, "Write a whole number, such as 30.");
        }
        self.read_number(field, typed).unwrap_or_default()
    }

    /// An amount in cents; `None` of an empty field.
    pub(super) fn read_money(&mut self, field: CampaignField, typed: &str) -> Option<i64> {
        if typed.trim().is_empty() {
            return None;
        }
        match typed.parse::<Money>() {
            Ok(money) => Some(money.cents()),
            Err(why) => {
                self.refuse(field, &format!("The amount {why}."));
                None
            }
        }
    }
}

/// A number as the database keeps it. One that does not fit is past every bound, and is refused as that.
pub(super) fn clamp_number(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_money_are_read_as_people_write_them() {
        let mut reader = InputReader::default();
        let field = CampaignField::Radius;
        assert_eq!(reader.read_number(field, " 1,600 "), Some(1_600));
        assert_eq!(reader.read_number(field, " "), None);
        assert_eq!(reader.read_money(field, "$1,250.00"), Some(125_000));
        assert_eq!(reader.read_money(field, ""), None);
        assert!(reader.problems.is_empty());
        reader.read_number(field, "many");
        reader.read_money(field, "0");
        reader.read_required_number(field, "");
        assert_eq!(reader.problems.len(), 3);
        assert_eq!(clamp_number(i64::MAX), i32::MAX);
    }

    #[test]
    fn each_field_has_its_first_problem_in_words() {
        let problem = |field, rule| CampaignProblem { field, rule };
        let problems = FieldProblems::of(&[
            problem(CampaignField::Radius, CampaignRule::Range(1, 20_000)),
            problem(CampaignField::StepDelay(1), CampaignRule::DelayOrder(1_826)),
            problem(CampaignField::StepDelay(1), CampaignRule::Unknown),
        ]);
        assert_eq!(
            problems.of_field("radius"),
            Some("Choose a number from 1 to 20,000.")
        );
        assert!(
            problems
                .of_step(&1, "delay")
                .is_some_and(|sentence| sentence.contains("1,826"))
        );
        assert_eq!(problems.of_field("name"), None);
    }
}
