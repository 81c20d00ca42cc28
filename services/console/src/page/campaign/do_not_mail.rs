//! The do-not-mail list of a campaign: looked through, added to, taken from.

mod file;
mod upload;

use address::Listed;
use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::response::Response;
use contract::id::CampaignId;
use serde::Deserialize;
use store::{CampaignSummary, ListedAddress, ListedCursor, StoreError};
use uuid::Uuid;

use super::{CampaignPath, PART, find, query};
use crate::Console;
use crate::access::Person;
use crate::answer::{Frame, Notice, Noticed, done, page, refused};
use crate::failure::Failure;
use crate::page::{LINES, cut};
use crate::route::{self, Access, Route};

/// What there is.
pub(super) fn routes() -> Vec<Route> {
    let path = "/campaigns/{campaign_id}/do-not-mail";
    vec![
        route::page(path, Access::Member, show),
        route::action(path, Access::Manager, add),
        route::action("/campaigns/{campaign_id}/do-not-mail/remove", Access::Manager, remove),
        route::upload(
            "/campaigns/{campaign_id}/do-not-mail/upload",
            Access::Manager,
            upload::BYTES,
            upload::take,
        ),
    ]
}

/// Which part of the list is shown.
#[derive(Default, Deserialize)]
struct Shown {
    /// What its addresses begin with.
    #[serde(default)]
    text: String,
    #[serde(default)]
    after: String,
    after_id: Option<Uuid>,
}

#[derive(Template)]
#[template(path = "campaign_do_not_mail.html")]
struct DoNotMailPage {
    frame: Frame,
    campaign: CampaignSummary,
    addresses: Vec<ListedAddress>,
    text: String,
    is_first: bool,
    next: Option<String>,
    typed: String,
    problem: Option<String>,
    /// Why a file was not taken.
    file_problem: Option<String>,
}

/// What was sent, and why it was not taken.
#[derive(Default)]
struct Refused {
    typed: String,
    problem: Option<String>,
    file_problem: Option<String>,
}

/// The page.
async fn show(
    State(console): State<Console>,
    person: Person,
    path: CampaignPath,
    shown: Result<Query<Shown>, QueryRejection>,
    noticed: Result<Query<Noticed>, QueryRejection>,
) -> Result<Response, Failure> {
    let (Query(shown), Query(noticed)) = (shown?, noticed?);
    let frame = Frame::new(&person, PART).with_notice(noticed.notice);
    list_page(&console, &person, frame, &path?.0, shown, Refused::default()).await
}

async fn list_page(
    console: &Console,
    person: &Person,
    frame: Frame,
    campaign_id: &CampaignId,
    shown: Shown,
    Refused { typed, problem, file_problem }: Refused,
) -> Result<Response, Failure> {
    let campaign = find(console, person, campaign_id).await?;
    let text = shown.text.trim();
    let after = ListedCursor { key: shown.after, address_id: shown.after_id.unwrap_or_default() };
    let store = &console.process.store;
    let mut addresses =
        store.do_not_mail_list(person.0.team_id, campaign_id, text, &after, LINES + 1).await?;
    let next = cut(&mut addresses).map(|last| {
        let ListedCursor { key, address_id } = &last.cursor;
        query(&[("text", text), ("after", key), ("after_id", &address_id.to_string())])
    });
    let is_refused = problem.is_some() || file_problem.is_some();
    let shown = DoNotMailPage {
        frame,
        campaign,
        addresses,
        text: text.to_owned(),
        is_first: after.key.is_empty(),
        next,
        typed,
        problem,
        file_problem,
    };
    Ok(if is_refused { refused(&shown) } else { page(&shown) })
}

#[derive(Deserialize)]
struct AddForm {
    address: String,
}

/// Puts one address on the list.
async fn add(
    State(console): State<Console>,
    person: Person,
    path: CampaignPath,
    form: Result<Form<AddForm>, FormRejection>,
) -> Result<Response, Failure> {
    let campaign_id = path?.0;
    let campaign = find(&console, &person, &campaign_id).await?;
    let Form(AddForm { address }) = form?;
    let listed = match Listed::from_line(&address) {
        Ok(listed) => listed,
        Err(problem) => {
            let problem = Some(format!("{problem}."));
            let what = Refused { typed: address, problem, file_problem: None };
            let frame = Frame::new(&person, PART);
            return list_page(&console, &person, frame, &campaign_id, Shown::default(), what).await;
        }
    };
    let now = console.process.clock.now();
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let row = (listed.id.as_uuid(), listed.line.clone());
    if transaction.do_not_mail_add(&campaign_id, &[row], now).await? == 0 {
        return Ok(done(&format!("/campaigns/{campaign_id}/do-not-mail"), Notice::AddressListedBefore));
    }
    let subject = format!("{}: {}", campaign.name, listed.line);
    transaction.activity_add(&person.0, "do_not_mail.added", &subject, now).await?;
    transaction.commit().await?;
    Ok(done(&format!("/campaigns/{campaign_id}/do-not-mail"), Notice::AddressListed))
}

#[derive(Deserialize)]
struct RemoveForm {
    address_id: Uuid,
}

/// Takes an address off the list.
async fn remove(
    State(console): State<Console>,
    person: Person,
    path: CampaignPath,
    form: Result<Form<RemoveForm>, FormRejection>,
) -> Result<Response, Failure> {
    let campaign_id = path?.0;
    let campaign = find(&console, &person, &campaign_id).await?;
    let Form(RemoveForm { address_id }) = form?;
    let now = console.process.clock.now();
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    let address = match transaction.do_not_mail_remove(person.0.team_id, &campaign_id, address_id).await {
        Ok(address) => address,
        Err(StoreError::NotFound(_)) => {
            return Ok(done(&format!("/campaigns/{campaign_id}/do-not-mail"), Notice::AddressUnlistedBefore));
        }
        Err(error) => return Err(error.into()),
    };
    let subject = format!("{}: {address}", campaign.name);
    transaction.activity_add(&person.0, "do_not_mail.removed", &subject, now).await?;
    transaction.commit().await?;
    Ok(done(&format!("/campaigns/{campaign_id}/do-not-mail"), Notice::AddressUnlisted))
}
