//! Columns of a file that the team's address book does not have: a heading that was meant as a field becomes one of those
//! unnoticed, and the card goes to nobody by name.

use std::collections::HashSet;
use std::io::{BufRead, IsTerminal, Write};

use anyhow::{Context, bail};
use audience::fold_name;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{GatewayClient, GatewayError, GatewayRequest};
use crate::sender_command::SendArgs;
use crate::sheet::{MappedColumns, RECIPIENT, TableFile};
use crate::upload::UploadProgress;

/// Where the service lists the columns of the key's team.
const FORMULA_SERVER: &str = "/api/formulas/v1/mcp";

/// Pages of columns that are read; a team has fewer.
const PAGES: usize = 1_000;

/// Headings that hold a whole name, as letters alone. A card prints first and last names apart.
const WHOLE_NAMES: [&str; 6] = [
    "name",
    "fullname",
    "contactname",
    "customername",
    "recipientname",
    "firstandlastname",
];

/// A column that the address book does not have.
#[derive(Debug, PartialEq, Eq)]
struct NewBookColumn {
    /// In the file, from 0.
    index: usize,
    heading: String,
    /// Its name in the address book.
    field: String,
    /// Whether somebody said that it is one.
    is_said: bool,
}

/// Those of a file.
#[derive(Debug)]
pub(super) struct NewBookColumns {
    columns: Vec<NewBookColumn>,
    /// Whether no column fills a first or last name.
    is_nameless: bool,
}

#[derive(Deserialize)]
struct ColumnsCallResponse {
    result: Option<ColumnsToolResult>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ColumnsToolResult {
    structured_content: TeamColumnsPage,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TeamColumnsPage {
    columns: Vec<TeamColumnName>,
    next_after: Option<String>,
}

#[derive(Deserialize)]
struct TeamColumnName {
    name: String,
}

impl NewBookColumns {
    /// Asks the service, when the file has columns that are no fields of the API.
    ///
    /// # Errors
    /// When the service does not tell.
    pub(super) async fn find(
        client: &GatewayClient,
        sheet: &TableFile,
        columns: &MappedColumns,
    ) -> anyhow::Result<Self> {
        let is_own = |field: &&String| RECIPIENT.iter().all(|known| known.field != *field);
        let known = match columns.fields.iter().flatten().any(|field| is_own(&field)) {
            true => fetch_team_columns(client)
                .await
                .context("the columns of the address book cannot be read")?,
            false => HashSet::new(),
        };
        Ok(Self::select_unknown(sheet, columns, &known))
    }

    fn select_unknown(sheet: &TableFile, columns: &MappedColumns, known: &HashSet<String>) -> Self {
        let is_field = |field: &str| RECIPIENT.iter().any(|known| known.field == field);
        let new = columns
            .fields
            .iter()
            .enumerate()
            .filter_map(|(index, field)| {
                let field = field
                    .as_ref()
                    .filter(|field| !is_field(field) && !known.contains(&fold_name(field)))?;
                let (heading, field) = (sheet.headings[index].clone(), field.clone());
                Some(NewBookColumn {
                    index,
                    heading,
                    field,
                    is_said: columns.said.contains(&index),
                })
            });
        let fills = |name: &str| columns.position(name).is_some();
        Self {
            columns: new.collect(),
            is_nameless: !fills("first_name") && !fills("last_name"),
        }
    }

    /// Whether this column of the file is one of them.
    pub(super) fn has(&self, index: usize) -> bool {
        self.columns.iter().any(|column| column.index == index)
    }

    /// What somebody should know before the file is sent.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.columns.is_empty() {
            let headings: Vec<String> = self.columns.iter().map(NewBookColumn::to_string).collect();
            notes.push(format!("New in the address book: {}.", headings.join(", ")));
        }
        if let Some(column) = self.columns.iter().find(|column| column.is_whole_name()) {
            notes.push(format!(
                "{column} holds whole names, and a card is addressed by first_name and last_name: split it into two columns."
            ));
        }
        if self.is_nameless {
            notes.push(
                "No column fills first_name or last_name: the cards are addressed to CURRENT RESIDENT."
                    .to_owned(),
            );
        }
        notes
    }

    /// Goes on when nothing is new, when it was said that it is, or when somebody at the terminal says so.
    ///
    /// # Errors
    /// When nobody does, with what to say.
    pub(super) async fn confirm(&self, command: &SendArgs) -> anyhow::Result<()> {
        let is_typed = |column: &&NewBookColumn| {
            command
                .types
                .iter()
                .any(|(field, _)| *field == column.field)
        };
        let unsaid: Vec<&NewBookColumn> = self
            .columns
            .iter()
            .filter(|column| !column.is_said && !is_typed(column))
            .collect();
        if unsaid.is_empty() || command.new_columns {
            return Ok(());
        }
        if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
            let question = format!(
                "{}\nMake what is new, and send? [y/N] ",
                self.notes().join("\n")
            );
            let answer = tokio::task::spawn_blocking(move || ask_yes_no(&question)).await??;
            return if answer {
                Ok(())
            } else {
                bail!("nothing was sent")
            };
        }
        bail!(
            "nothing was sent: {}: {}",
            command.upload.file.display(),
            self.describe_refusal(&unsaid)
        )
    }

    fn describe_refusal(&self, unsaid: &[&NewBookColumn]) -> String {
        let named = unsaid.iter().map(|column| {
            format!(
                "{column} is no field of the API and no column of the address book: say --map '{0}=FIELD', --map '{0}=' to \
                 leave it out, or --new-columns to make it a column",
                column.heading
            )
        });
        // The first note only names them again.
        let notes = self
            .notes()
            .into_iter()
            .skip(1)
            .map(|note| note.trim_end_matches('.').to_owned());
        named.chain(notes).collect::<Vec<_>>().join("; ")
    }
}

impl std::fmt::Display for NewBookColumn {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "column {} \"{:.60}\"",
            self.index + 1,
            self.heading
        )
    }
}

impl NewBookColumn {
    fn is_whole_name(&self) -> bool {
        let letters: String = self
            .heading
            .chars()
            .filter(|character| character.is_alphabetic())
            .collect();
        WHOLE_NAMES.contains(&letters.to_lowercase().as_str())
    }
}

/// Asks somebody at the terminal.
fn ask_yes_no(question: &str) -> anyhow::Result<bool> {
    let mut terminal = std::io::stderr().lock();
    terminal.write_all(question.as_bytes())?;
    terminal.flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// The columns of the team's address book, folded.
async fn fetch_team_columns(client: &GatewayClient) -> Result<HashSet<String>, GatewayError> {
    let (mut known, mut after) = (HashSet::new(), Value::Null);
    for _ in 0..PAGES {
        let arguments = if after.is_null() {
            json!({})
        } else {
            json!({ "after": after })
        };
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "list_columns", "arguments": arguments}});
        let answer: ColumnsCallResponse = client
            .send(
                &GatewayRequest::post(FORMULA_SERVER, call.to_string()),
                &UploadProgress::hidden(),
            )
            .await?;
        let unreadable = || GatewayError::Unreadable("the service lists no columns".to_owned());
        let TeamColumnsPage {
            columns,
            next_after,
        } = answer.result.ok_or_else(unreadable)?.structured_content;
        known.extend(columns.iter().map(|column| fold_name(&column.name)));
        match next_after {
            Some(next) => after = json!(next),
            None => break,
        }
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{ColumnMapping, UnknownColumnRule, map_columns};

    fn find_columns(headings: &str, mappings: &[&str], known: &[&str]) -> NewBookColumns {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("{headings}\n")).unwrap();
        let sheet = TableFile::open(file.path()).unwrap();
        let mappings: Vec<ColumnMapping> =
            mappings.iter().map(|text| text.parse().unwrap()).collect();
        let columns = map_columns(
            &sheet.headings,
            RECIPIENT,
            &[],
            &mappings,
            &[],
            UnknownColumnRule::OwnColumn,
        )
        .unwrap();
        NewBookColumns::select_unknown(
            &sheet,
            &columns,
            &known.iter().map(|name| fold_name(name)).collect(),
        )
    }

    #[test]
    fn a_column_is_new_that_is_no_field_and_not_in_the_address_book() {
        let new = find_columns(
            "full name,address,VISITS,Zip,Plan,",
            &["Plan=Plan"],
            &["visits"],
        );
        let shown: Vec<_> = new
            .columns
            .iter()
            .map(|column| (column.heading.as_str(), column.is_said))
            .collect();
        assert_eq!(shown, [("full name", false), ("Plan", true)]);
        assert!(new.has(0) && !new.has(2));
    }

    #[test]
    fn a_whole_name_and_no_name_at_all_are_noted() {
        let notes = find_columns("Full Name,address", &[], &[])
            .notes()
            .join(" ");
        assert!(
            notes.contains("split it into two columns") && notes.contains("CURRENT RESIDENT"),
            "{notes}"
        );
        assert!(
            find_columns("first name,address", &[], &[])
                .notes()
                .is_empty()
        );
    }
}
