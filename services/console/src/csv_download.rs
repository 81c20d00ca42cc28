//! Files that are made while they are sent, a page of the database at a time: any size takes little memory, and no
//! transaction waits for whoever reads slowly.

use std::error::Error;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream::try_unfold;
use spreadsheet::escape_formula;

use crate::extract::MemberContext;
use crate::page_error::PageError;

/// Lines that are read at a time.
pub(crate) const LINES_READ: i64 = 1_000;

/// Some lines of a file.
pub(crate) struct CsvChunk<C> {
    /// Their cells.
    pub(crate) cells: Vec<Vec<String>>,
    /// Where the next ones begin; `None` at the end.
    pub(crate) next: Option<C>,
}

/// A file of people's data.
pub(crate) struct CsvDownload<'a> {
    /// What the browser calls it.
    pub(crate) file_name: &'a str,
    pub(crate) headings: &'a [&'a str],
    /// What the team's log says was done, as in `recipient.downloaded`.
    pub(crate) action: &'static str,
    /// Of what.
    pub(crate) subject: &'a str,
}

/// A CSV file of the lines that `read` gives from `start` on. That this person has it is in the team's log before the first
/// line goes out. When reading fails the download breaks off: a file that arrives is whole.
///
/// # Errors
/// [`PageError`] when it cannot be noted.
pub(crate) async fn download_csv<C, F>(
    context: &MemberContext,
    download: CsvDownload<'_>,
    start: C,
    read: impl Fn(C) -> F + Send + 'static,
) -> Result<Response, PageError>
where
    C: Send + 'static,
    F: Future<Output = store::Result<CsvChunk<C>>> + Send + 'static,
{
    let CsvDownload {
        file_name,
        headings,
        action,
        subject,
    } = download;
    let mut connection = context.store().connection().await?;
    let transaction = connection.begin_transaction().await?;
    transaction
        .record_activity(
            context.team_id(),
            context.actor(),
            action,
            subject,
            context.now(),
        )
        .await?;
    transaction.commit().await?;
    Ok(csv_response(file_name, headings, start, read))
}

fn csv_response<C, F>(
    file_name: &str,
    headings: &[&str],
    start: C,
    read: impl Fn(C) -> F + Send + 'static,
) -> Response
where
    C: Send + 'static,
    F: Future<Output = store::Result<CsvChunk<C>>> + Send + 'static,
{
    let headings = headings
        .iter()
        .map(|heading| (*heading).to_owned())
        .collect();
    let state = (vec![headings], Some(start), read);
    let pages = try_unfold(state, async |(mut cells, cursor, read)| {
        let Some(cursor) = cursor else {
            return Ok(None);
        };
        let lines = read(cursor).await.inspect_err(|error| {
            tracing::error!(error = error as &dyn Error, "a download breaks off");
        })?;
        cells.extend(lines.cells);
        Ok::<_, anyhow::Error>(Some((write_lines(&cells)?, (Vec::new(), lines.next, read))))
    });
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{file_name}\""),
        ),
    ];
    (headers, Body::from_stream(pages)).into_response()
}

fn write_lines(lines: &[Vec<String>]) -> anyhow::Result<Bytes> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for cells in lines {
        writer.write_record(cells.iter().map(|cell| escape_formula(cell).into_owned()))?;
    }
    Ok(writer.into_inner()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_has_its_headings_once_and_all_pages_in_order() {
        let read = async |page: u32| {
            let cells = vec![vec![page.to_string(), "a \"b\", c".to_owned()]];
            Ok(CsvChunk {
                cells,
                next: (page < 3).then_some(page + 1),
            })
        };
        let response = csv_response("list.csv", &["Page", "Text"], 1, read);
        assert_eq!(
            response.headers()[CONTENT_DISPOSITION],
            "attachment; filename=\"list.csv\""
        );
        let body = axum::body::to_bytes(response.into_body(), 1_000)
            .await
            .unwrap();
        let quoted = "\"a \"\"b\"\", c\"";
        let expected = format!("Page,Text\n1,{quoted}\n2,{quoted}\n3,{quoted}\n");
        assert_eq!(body, expected);
    }

    #[tokio::test]
    async fn a_download_that_fails_breaks_off() {
        let read = async |_: ()| Err(store::StoreError::unavailable("gone"));
        let response = csv_response("list.csv", &["Text"], (), read);
        assert!(
            axum::body::to_bytes(response.into_body(), 1_000)
                .await
                .is_err()
        );
    }

    #[tokio::test]
    async fn no_cell_is_a_formula() {
        let read = async |()| {
            Ok(CsvChunk {
                cells: vec![vec!["＝1+1".to_owned(), "\n=1".to_owned()]],
                next: None,
            })
        };
        let response = csv_response("list.csv", &["One", "Other"], (), read);
        let body = axum::body::to_bytes(response.into_body(), 1_000)
            .await
            .unwrap();
        assert_eq!(body, "One,Other\n'＝1+1,\"'\n=1\"\n");
    }
}
