//! `address-book`.

use std::io::{BufWriter, ErrorKind, Write};

use anyhow::Context;
use store::{BookCursor, BookPage, Store};

use super::find_team;
use crate::report::Report;

/// Lines that are read at a time: a book of any size passes through little memory.
const PAGE_LINES: i64 = 1_000;

/// Writes a team's address book to the standard output, page by page.
pub(crate) async fn write(store: &Store, team: &str) -> anyhow::Result<Report> {
    let team_id = find_team(store, team).await?.team_id;
    let mut next = Some(BookCursor::START);
    while let Some(cursor) = next {
        let page = store.address_book_page(team_id, cursor, PAGE_LINES).await?;
        match write_page(&page) {
            // Whoever read the lines has seen enough of them.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
            written => written.context("cannot write the address book")?,
        }
        next = page.next;
    }
    Ok(Report::nothing())
}

fn write_page(page: &BookPage) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in &page.lines {
        serde_json::to_writer(&mut out, line)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}
