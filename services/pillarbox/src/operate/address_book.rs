//! `address-book`.

use std::collections::BTreeMap;
use std::io::{BufWriter, ErrorKind, Write};

use anyhow::Context;
use chrono::{DateTime, NaiveDate, Utc};
use columns::FormulaColumns;
use formula::EvaluatedCell;
use model::id::TeamId;
use serde::Serialize;
use store::{BookCursor, BookLine, ColumnKind, Store, TeamColumn};
use uuid::Uuid;

use super::find_team;
use crate::report::CommandReport;

/// Lines that are read at a time: a book of any size passes through little memory.
const PAGE_LINES: i64 = 1_000;

/// A team's columns that nobody sends.
struct ComputedColumns {
    team_id: TeamId,
    columns: Vec<TeamColumn>,
    formulas: FormulaColumns,
    /// The team's day.
    today: NaiveDate,
}

/// A line with its computed values.
#[derive(Serialize)]
struct ExportedBookLine<'a> {
    #[serde(flatten)]
    line: &'a BookLine,
    /// Values of formula columns as of today, by folded name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    computed: BTreeMap<&'a str, String>,
    /// Why formula and AI columns are blank, by folded name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    blank: BTreeMap<&'a str, String>,
}

/// Writes a team's address book to the standard output, page by page.
pub(crate) async fn write_entries(
    store: &Store,
    team: &str,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let team_id = find_team(store, team).await?.team_id;
    let columns = store.list_columns(team_id).await?;
    let computing = ComputedColumns {
        team_id,
        formulas: FormulaColumns::new(&columns),
        columns,
        today: columns::team_today(&store.find_team(team_id).await?, now),
    };
    let mut next = Some(BookCursor::START);
    while let Some(cursor) = next {
        let page = store
            .list_address_book_page(team_id, cursor, PAGE_LINES)
            .await?;
        match write_lines(&computing.export_lines(store, &page.lines).await?) {
            // Whoever read the lines has seen enough of them.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
            written => written.context("cannot write the address book")?,
        }
        next = page.next;
    }
    Ok(CommandReport::empty())
}

impl ComputedColumns {
    async fn export_lines<'a>(
        &'a self,
        store: &Store,
        lines: &'a [BookLine],
    ) -> anyhow::Result<Vec<ExportedBookLine<'a>>> {
        let keys: Vec<&str> = self.keys_of_kind(ColumnKind::Ai).collect();
        let entry_ids: Vec<Uuid> = lines.iter().filter_map(|line| line.entry_id).collect();
        let reasons = store
            .list_ai_cell_reasons(self.team_id, &keys, &entry_ids)
            .await?;
        let none = BTreeMap::new();
        let shown = lines.iter().map(|line| {
            let reasons = line
                .entry_id
                .and_then(|entry_id| reasons.get(&entry_id))
                .unwrap_or(&none);
            self.export_line(line, reasons)
        });
        Ok(shown.collect())
    }

    fn export_line<'a>(
        &'a self,
        line: &'a BookLine,
        reasons: &BTreeMap<String, String>,
    ) -> ExportedBookLine<'a> {
        let mut row: BTreeMap<String, String> = line
            .built_in
            .iter()
            .chain(&line.custom)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        // A contact has its address as the integration sent it.
        if line.entry_id.is_none() {
            columns::standardize_address(&mut row);
        }
        let over = self.formulas.for_recipient(&row, self.today);
        let (mut computed, mut blank) = (BTreeMap::new(), BTreeMap::new());
        for key in self.keys_of_kind(ColumnKind::Formula) {
            match over.evaluate_named(key) {
                Some(EvaluatedCell::Value(value)) => drop(computed.insert(key, value.to_string())),
                Some(EvaluatedCell::Blank(reason)) => drop(blank.insert(key, reason.to_string())),
                None => {}
            }
        }
        for key in self
            .keys_of_kind(ColumnKind::Ai)
            .filter(|key| !line.custom.contains_key(*key))
        {
            blank.extend(reasons.get(key).map(|reason| (key, reason.clone())));
        }
        ExportedBookLine {
            line,
            computed,
            blank,
        }
    }

    fn keys_of_kind(&self, kind: ColumnKind) -> impl Iterator<Item = &str> {
        self.columns
            .iter()
            .filter(move |column| column.kind == kind)
            .map(|column| column.name_key.as_str())
    }
}

fn write_lines(lines: &[ExportedBookLine<'_>]) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in lines {
        serde_json::to_writer(&mut out, line)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use audience::ColumnType;

    use super::*;

    #[test]
    fn a_line_has_its_computed_values_and_why_others_are_blank() {
        let columns = vec![
            TeamColumn::new_formula("Name", ColumnType::Text, "PROPER(first_name)"),
            TeamColumn::new_formula("Ratio", ColumnType::Number, "1 / 0"),
            TeamColumn::new_ai("Greeting", "Greet {{first_name}}."),
        ];
        let computing = ComputedColumns {
            team_id: TeamId::new(),
            formulas: FormulaColumns::new(&columns),
            columns,
            today: NaiveDate::MIN,
        };
        let line = BookLine {
            entry_id: None,
            integration_id: None,
            external_id: None,
            built_in: [("first_name".to_owned(), "ada".to_owned())].into(),
            custom: BTreeMap::new(),
        };
        let reasons = [("greeting".to_owned(), "waits".to_owned())].into();
        let shown = computing.export_line(&line, &reasons);
        assert_eq!(shown.computed, [("name", "Ada".to_owned())].into());
        assert_eq!(
            shown.blank,
            [
                ("greeting", "waits".to_owned()),
                ("ratio", "division by zero".to_owned())
            ]
            .into()
        );
    }
}
