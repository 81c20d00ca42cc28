//! What a command has to say: to programs as JSON, to people as sentences and tables.

use std::io::Write;

use anyhow::Context;
use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use serde::Serialize;

/// A line below the headings and nothing else, so that a table can be copied and cut with plain tools.
const TABLE_STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Width of tables when the terminal does not tell its own, and the least that is of use.
const TABLE_WIDTH: u16 = 140;
const LEAST_TABLE_WIDTH: u16 = 60;

/// What a process ends with whose command found something wrong, or could not be carried out.
pub const FAILED: u8 = 1;

/// What `send` ends with when it is through and not every row was mailed.
pub const NOT_ALL_MAILED: u8 = 3;

/// What an upload ends with that could not keep what came of a batch.
pub const NOT_KEPT: u8 = 4;

/// What an upload ends with that was stopped with Ctrl-C, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// What a command has to say.
#[derive(Debug)]
pub struct CommandReport {
    json: String,
    text: String,
    code: u8,
}

impl CommandReport {
    /// `text` is for people, without the last line's end.
    ///
    /// # Errors
    /// When the value cannot be written as JSON.
    pub fn new(value: &impl Serialize, text: impl Into<String>) -> anyhow::Result<Self> {
        let json =
            serde_json::to_string_pretty(value).context("cannot write the answer as JSON")?;
        Ok(Self {
            json,
            text: text.into(),
            code: 0,
        })
    }

    /// What a command says that has written its answer itself.
    pub const fn empty() -> Self {
        Self {
            json: String::new(),
            text: String::new(),
            code: 0,
        }
    }

    /// The same report of a command that did what it was asked and found something wrong.
    #[must_use]
    pub fn failed_when(self, is_failure: bool) -> Self {
        self.with_exit_code(if is_failure { FAILED } else { 0 })
    }

    /// The same report of a command whose process ends with this code.
    #[must_use]
    pub fn with_exit_code(mut self, code: u8) -> Self {
        self.code = code;
        self
    }

    /// What the process is to end with.
    pub const fn exit_code(&self) -> u8 {
        self.code
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
pub fn build_table<const N: usize>(headings: [&str; N]) -> Table {
    let columns = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse::<u16>().ok());
    let mut table = Table::new();
    table
        .load_style(TABLE_STYLE)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(columns.unwrap_or(TABLE_WIDTH).max(LEAST_TABLE_WIDTH))
        .set_header(headings);
    table
}
