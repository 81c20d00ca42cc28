//! What a command has to say: to programs as JSON, to people as sentences and tables.

use std::io::Write;

use anyhow::Context;
use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use serde::Serialize;

/// A line below the headings and nothing else, so that a table can be copied and cut with plain tools.
const TABLE_STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Width of tables when the terminal does not tell its own, and the least that is of use.
const TABLE_WIDTH: u16 = 140;
const LEAST_TABLE_WIDTH: u16 = 60;

/// What a command has to say.
#[derive(Debug)]
pub struct Report {
    json: String,
    text: String,
    is_failure: bool,
}

impl Report {
    /// `text` is for people, without the last line's end.
    ///
    /// # Errors
    /// When the value cannot be written as JSON.
    pub fn new(value: &impl Serialize, text: impl Into<String>) -> anyhow::Result<Self> {
        let json = serde_json::to_string_pretty(value).context("cannot write the answer as JSON")?;
        Ok(Self { json, text: text.into(), is_failure: false })
    }

    /// What a command says that has written its answer itself.
    pub const fn nothing() -> Self {
        Self { json: String::new(), text: String::new(), is_failure: false }
    }

    /// The same report of a command that did what it was asked and found something wrong.
    #[must_use]
    pub fn failed_when(mut self, is_failure: bool) -> Self {
        self.is_failure = is_failure;
        self
    }

    /// Whether the process is to end with 1.
    pub const fn is_failure(&self) -> bool {
        self.is_failure
    }

    /// Writes the one form or the other.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, mut out: impl Write, is_json: bool) -> std::io::Result<()> {
        match if is_json { &self.json } else { &self.text } {
            nothing if nothing.is_empty() => Ok(()),
            answer => writeln!(out, "{answer}"),
        }
    }
}

/// An empty table with these headings, as wide as the terminal at the most.
pub fn table<const N: usize>(headings: [&str; N]) -> Table {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse::<u16>().ok());
    let mut table = Table::new();
    table
        .load_style(TABLE_STYLE)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(columns.unwrap_or(TABLE_WIDTH).max(LEAST_TABLE_WIDTH))
        .set_header(headings);
    table
}
