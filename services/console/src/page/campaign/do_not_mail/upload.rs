//! A file for the do-not-mail list: read while it arrives, taken in one transaction.

use std::io;

use askama::Template;
use axum::extract::State;
use axum::extract::multipart::{Multipart, MultipartRejection};
use axum::response::Response;
use bytes::Bytes;
use contract::id::CampaignId;
use store::CampaignSummary;
use tokio::sync::{Semaphore, mpsc};

use super::file::{self, Arriving, ReadFile};
use super::{Refused, Shown, list_page};
use crate::Console;
use crate::access::Person;
use crate::answer::{Frame, page};
use crate::failure::Failure;
use crate::page::campaign::{CampaignPath, PART, find};
use crate::show::grouped;

/// Bytes of a file at the most.
pub(super) const BYTES: usize = 16 * 1024 * 1024;

/// Files read at a time by one process; each keeps a processor busy, and its addresses in memory.
static READ_AT_A_TIME: Semaphore = Semaphore::const_new(2);

/// Pieces of a file that wait for being read.
const PIECES_AHEAD: usize = 4;

/// Addresses that one statement takes.
const PORTION: usize = 5_000;

#[derive(Template)]
#[template(path = "campaign_do_not_mail_file.html")]
struct UploadedPage {
    frame: Frame,
    campaign: CampaignSummary,
    added: String,
    known: String,
    bad: String,
    file: ReadFile,
}

/// Takes a file, and says what became of its lines.
pub(super) async fn take(
    State(console): State<Console>,
    person: Person,
    path: CampaignPath,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, Failure> {
    let campaign_id = path?.0;
    let campaign = find(&console, &person, &campaign_id).await?;
    let turn = READ_AT_A_TIME.acquire().await;
    let received = match form {
        Ok(form) => receive(form).await,
        Err(_) => Err(no_file()),
    };
    drop(turn);
    let file = match received {
        Ok(file) => file,
        Err(Failure::Invalid(problem)) => {
            let what = Refused { file_problem: Some(problem), ..Refused::default() };
            let frame = Frame::new(&person, PART);
            return list_page(&console, &person, frame, &campaign_id, Shown::default(), what).await;
        }
        Err(failure) => return Err(failure),
    };
    let added = save(&console, &person, &campaign_id, &campaign.name, &file).await?;
    Ok(page(&UploadedPage {
        frame: Frame::new(&person, PART),
        campaign,
        added: grouped(added),
        known: grouped(file.addresses.len() as u64 - added),
        bad: grouped(file.bad as u64),
        file,
    }))
}

/// Hands the file's pieces to the reader, which waits for them on a thread of its own.
async fn receive(mut form: Multipart) -> Result<ReadFile, Failure> {
    while let Some(mut field) = form.next_field().await.map_err(|_| cut_off())? {
        if field.name() != Some("file") {
            continue;
        }
        let (sender, parts) = mpsc::channel(PIECES_AHEAD);
        let reader = tokio::task::spawn_blocking(move || file::read(Arriving { parts, rest: Bytes::new() }));
        loop {
            let piece = field.chunk().await;
            let is_last = !matches!(piece, Ok(Some(_)));
            let piece = piece.map(Option::unwrap_or_default).map_err(io::Error::other);
            // A reader that is gone has found out enough.
            if sender.send(piece).await.is_err() || is_last {
                break;
            }
        }
        drop(sender);
        let read = reader.await.map_err(|error| Failure::Internal(error.into()))?;
        return read.map_err(|error| Failure::Invalid(error.to_string()));
    }
    Err(no_file())
}

async fn save(
    console: &Console,
    person: &Person,
    campaign_id: &CampaignId,
    name: &str,
    file: &ReadFile,
) -> Result<u64, Failure> {
    let now = console.process.clock.now();
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let mut added = 0;
    for portion in file.addresses.chunks(PORTION) {
        added += transaction.do_not_mail_add(campaign_id, portion, now).await?;
    }
    let subject = format!("{name}: {added} addresses of a file");
    transaction.activity_add(&person.0, "do_not_mail.added", &subject, now).await?;
    transaction.commit().await?;
    Ok(added)
}

fn no_file() -> Failure {
    Failure::Invalid("Choose a CSV file first.".to_owned())
}

fn cut_off() -> Failure {
    Failure::Invalid(format!(
        "The file did not arrive whole, or has more than {} MB. Nothing of it was taken.",
        BYTES / 1024 / 1024
    ))
}
