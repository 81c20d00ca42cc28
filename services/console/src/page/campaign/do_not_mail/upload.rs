//! A file for the do-not-mail list: received whole, read when it is its turn, taken in one transaction.

use askama::Template;
use axum::extract::multipart::{Multipart, MultipartRejection};
use bytes::BytesMut;
use store::CampaignSummary;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::file::{self, DoNotMailFile};
use super::{DoNotMailListQuery, RejectedDoNotMailInput, list_page};
use crate::blocking::run_blocking;
use crate::extract::{MemberContext, PagePath};
use crate::format::format_number;
use crate::frame::PageFrame;
use crate::page::campaign::{CampaignPath, PART, find_campaign};
use crate::page_error::{PageError, PageResult};
use crate::render::render_page;

/// Bytes of a file at the most.
pub(crate) const BYTES: usize = 16 * 1024 * 1024;

/// Bytes of files in memory at a time in one process, from their arrival until they are read: four of the largest. Only
/// what has arrived counts, so that who sends nothing takes nothing from others.
static MEMORY: Semaphore = Semaphore::const_new(4 * BYTES);

/// Files read at a time by one process; each keeps a processor busy, and its addresses in memory.
static READ_AT_A_TIME: Semaphore = Semaphore::const_new(2);

#[derive(Template)]
#[template(path = "campaign_do_not_mail_file.html")]
struct DoNotMailUploadPage {
    frame: PageFrame,
    campaign: CampaignSummary,
    added: String,
    known: String,
    bad: String,
    file: DoNotMailFile,
}

/// A file with its place in memory.
struct ReceivedFile {
    content: BytesMut,
    memory: SemaphorePermit<'static>,
}

/// Takes a file, and says what became of its lines.
pub(crate) async fn upload_file(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
    form: Result<Multipart, MultipartRejection>,
) -> PageResult {
    let campaign = find_campaign(&context, &campaign_id).await?;
    let received = match form {
        Ok(form) => receive_file(form, &MEMORY).await,
        Err(_) => Err(no_file()),
    };
    let read = match received {
        Ok(received) => read_received(received).await,
        Err(failure) => Err(failure),
    };
    let file = match read {
        Ok(file) => file,
        Err(PageError::Invalid(problem)) => {
            let what = RejectedDoNotMailInput {
                file_problem: Some(problem),
                ..RejectedDoNotMailInput::default()
            };
            let first = DoNotMailListQuery::default();
            return list_page(&context, &campaign_id, first, what).await;
        }
        Err(failure) => return Err(failure),
    };
    let (store, now) = (context.store(), context.now());
    let (team_id, addresses) = (context.team_id(), &file.addresses);
    let added = campaigns::add_do_not_mail(
        store,
        context.actor(),
        team_id,
        &campaign_id,
        addresses,
        now,
    )
    .await?;
    Ok(render_page(&DoNotMailUploadPage {
        frame: context.frame(PART),
        campaign,
        added: format_number(added),
        known: format_number(file.addresses.len() as u64 - added),
        bad: format_number(file.bad as u64),
        file,
    }))
}

/// Receives the form's file. It waits for nobody but its sender: without memory for what arrives it is refused.
async fn receive_file(
    mut form: Multipart,
    memory: &'static Semaphore,
) -> Result<ReceivedFile, PageError> {
    let place = |bytes: usize| {
        let bytes = u32::try_from(bytes).map_err(|_| PageError::Busy)?;
        memory.try_acquire_many(bytes).map_err(|_| PageError::Busy)
    };
    while let Some(mut field) = form.next_field().await.map_err(|_| cut_off())? {
        if field.name() != Some("file") {
            continue;
        }
        let mut received = ReceivedFile {
            content: BytesMut::new(),
            memory: place(0)?,
        };
        while let Some(piece) = field.chunk().await.map_err(|_| cut_off())? {
            received.memory.merge(place(piece.len())?);
            received.content.extend_from_slice(&piece);
        }
        return Ok(received);
    }
    Err(no_file())
}

/// Reads a file when it is its turn, and gives its memory back.
async fn read_received(
    ReceivedFile { content, memory }: ReceivedFile,
) -> Result<DoNotMailFile, PageError> {
    // Never closed.
    let place = READ_AT_A_TIME.acquire().await;
    let read = run_blocking((place, memory), move || file::read_file(&content)).await?;
    read.map_err(|error| PageError::Invalid(error.to_string()))
}

fn no_file() -> PageError {
    PageError::Invalid("Choose a CSV file first.".to_owned())
}

fn cut_off() -> PageError {
    PageError::Invalid(format!(
        "The file did not arrive whole, or has more than {} MB. Nothing of it was taken.",
        BYTES / 1024 / 1024
    ))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::extract::{FromRequest as _, Request};
    use axum::http::header::CONTENT_TYPE;

    use super::*;

    const HEAD: &str =
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\naddress\n";
    const END: &str = "\r\n--b--\r\n";

    async fn form(body: String) -> Multipart {
        let request = Request::post("/").header(CONTENT_TYPE, "multipart/form-data; boundary=b");
        Multipart::from_request(request.body(Body::from(body)).unwrap(), &())
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn a_file_for_which_there_is_no_memory_is_refused_and_holds_none() {
        static MEMORY: Semaphore = Semaphore::const_new(10);
        let first = receive_file(form(format!("{HEAD}{END}")).await, &MEMORY)
            .await
            .ok()
            .unwrap();
        assert_eq!(
            (&first.content[..], MEMORY.available_permits()),
            (&b"address\n"[..], 2)
        );
        let second = receive_file(form(format!("{HEAD}{END}")).await, &MEMORY).await;
        assert!(matches!(second, Err(PageError::Busy)));
        assert!(read_received(first).await.is_ok());
        assert_eq!(
            MEMORY.available_permits(),
            10,
            "a file that is read holds none"
        );
    }

    #[tokio::test]
    async fn a_file_that_breaks_off_is_refused() {
        let broken_off = receive_file(form(HEAD.to_owned()).await, &MEMORY).await;
        assert!(
            matches!(broken_off, Err(PageError::Invalid(problem)) if problem.contains("did not arrive whole"))
        );
    }
}
