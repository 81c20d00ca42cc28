//! What the model is asked: a column's prompt with an entry's values.

use std::collections::HashMap;

use audience::{ValueLookup, fold_name};
use chrono::{DateTime, NaiveDate, Utc};
use columns::FormulaColumns;
use columns::RecipientProfile;
use design::TextTemplate;
use model::id::TeamId;
use store::{AiCell, BookRecipient, StoreError, TeamColumn};
use uuid::Uuid;

use crate::MailerState;

/// Longest question, in characters.
const QUESTION_CHARS: usize = 8_000;

/// A prompt whose fields have their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FilledPrompt {
    pub(super) text: String,
}

/// What the questions of some cells are made of, team by team.
pub(super) struct PromptSources {
    teams: HashMap<TeamId, TeamEntries>,
}

/// A team's columns and some of its entries.
struct TeamEntries {
    columns: Vec<TeamColumn>,
    formulas: FormulaColumns,
    entries: HashMap<Uuid, BookRecipient>,
    /// The team's day.
    today: NaiveDate,
}

impl PromptSources {
    pub(super) async fn load(
        mailer: &MailerState,
        cells: &[AiCell],
        now: DateTime<Utc>,
    ) -> Result<Self, StoreError> {
        let store = &mailer.process.store;
        let mut teams = HashMap::new();
        for cell in cells {
            if teams.contains_key(&cell.team_id) {
                continue;
            }
            let of_team = cells.iter().filter(|other| other.team_id == cell.team_id);
            let entry_ids: Vec<Uuid> = of_team.map(|cell| cell.entry_id).collect();
            let columns = store.list_columns(cell.team_id).await?;
            let book = TeamEntries {
                formulas: FormulaColumns::new(&columns),
                columns,
                entries: store.find_book_recipients(cell.team_id, &entry_ids).await?,
                today: columns::team_today(&store.find_team(cell.team_id).await?, now),
            };
            teams.insert(cell.team_id, book);
        }
        Ok(Self { teams })
    }

    /// The question of a cell, or why there is none.
    pub(super) fn fill_for_cell(&self, cell: &AiCell) -> Result<FilledPrompt, String> {
        let book = self.teams.get(&cell.team_id).ok_or("the team is gone")?;
        let column = book
            .columns
            .iter()
            .find(|column| column.name_key == cell.name_key);
        let prompt = column
            .and_then(|column| column.prompt.as_deref())
            .ok_or("the column has no prompt")?;
        let entry = book
            .entries
            .get(&cell.entry_id)
            .ok_or("the entry is gone")?;
        let profile = RecipientProfile::from_entry(&entry.entry, &entry.values);
        fill_prompt(prompt, &book.formulas.for_recipient(&profile, book.today))
    }
}

/// The prompt with the values of a recipient. A field without a value or a default leaves nothing to ask.
fn fill_prompt(prompt: &str, recipient: &dyn ValueLookup) -> Result<FilledPrompt, String> {
    let template = TextTemplate::parse(prompt)
        .map_err(|error| format!("the prompt cannot be used: {error}"))?;
    let keys: HashMap<&str, String> = template
        .field_names()
        .map(|field| (field, fold_name(field)))
        .collect();
    let rendered = template.render(|field| keys.get(field).and_then(|key| recipient.value(key)));
    if let Some(field) = rendered.empty_fields.first() {
        return Err(format!("{field} is blank"));
    }
    if rendered.text.chars().nth(QUESTION_CHARS).is_some() {
        return Err(format!(
            "the prompt with its fields has more than {QUESTION_CHARS} characters"
        ));
    }
    Ok(FilledPrompt {
        text: rendered.text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_needs_its_fields() {
        let row = HashMap::from([("first_name".to_owned(), "Ada".to_owned())]);
        let asked = |prompt| fill_prompt(prompt, &row).map(|question| question.text);
        assert_eq!(
            asked("Greet {{First_Name}} of {{city|Austin}}."),
            Ok("Greet Ada of Austin.".to_owned())
        );
        assert_eq!(
            asked("Greet {{nickname}}."),
            Err("nickname is blank".to_owned())
        );
        assert!(asked("Greet {{nickname.").is_err());
    }
}
