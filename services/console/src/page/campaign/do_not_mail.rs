//! The do-not-mail list of a campaign: looked through, added to, taken from.

mod file;
mod upload;

use address::AddressListEntry;
use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::response::Response;
use model::id::CampaignId;
use serde::Deserialize;
use store::{CampaignSummary, DoNotMailAddress, DoNotMailCursor};
use uuid::Uuid;

use super::{CampaignPath, PART, find, query};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, NoticeQuery, PageFrame, done, page, refused};
use crate::failure::PageError;
use crate::page::{LINES, cut};
use crate::route::{self, ConsoleRoute, RouteAccess};

/// What there is.
pub(super) fn routes() -> Vec<ConsoleRoute> {
    let path = "/campaigns/{campaign_id}/do-not-mail";
    vec![
        route::page(path, RouteAccess::Member, show),
        route::action(path, RouteAccess::Manager, add),
        route::action(
            "/campaigns/{campaign_id}/do-not-mail/remove",
            RouteAccess::Manager,
            remove,
        ),
        route::upload(
            "/campaigns/{campaign_id}/do-not-mail/upload",
            RouteAccess::Manager,
            upload::BYTES,
            upload::take,
        ),
    ]
}

/// Which part of the list is shown.
#[derive(Default, Deserialize)]
struct DoNotMailListQuery {
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
    frame: PageFrame,
    campaign: CampaignSummary,
    addresses: Vec<DoNotMailAddress>,
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
struct RejectedDoNotMailInput {
    typed: String,
    problem: Option<String>,
    file_problem: Option<String>,
}

/// The page.
async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: CampaignPath,
    shown: Result<Query<DoNotMailListQuery>, QueryRejection>,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let (Query(shown), Query(noticed)) = (shown?, noticed?);
    let frame = PageFrame::new(&person, PART).with_notice(noticed.notice);
    list_page(
        &console,
        &person,
        frame,
        &path?.0,
        shown,
        RejectedDoNotMailInput::default(),
    )
    .await
}

async fn list_page(
    console: &ConsoleState,
    person: &CurrentMember,
    frame: PageFrame,
    campaign_id: &CampaignId,
    shown: DoNotMailListQuery,
    RejectedDoNotMailInput {
        typed,
        problem,
        file_problem,
    }: RejectedDoNotMailInput,
) -> Result<Response, PageError> {
    let campaign = find(console, person, campaign_id).await?;
    let text = shown.text.trim();
    let after = DoNotMailCursor {
        key: shown.after,
        address_id: shown.after_id.unwrap_or_default(),
    };
    let store = &console.process.store;
    let mut addresses = store
        .list_do_not_mail(person.0.team_id, campaign_id, text, &after, LINES + 1)
        .await?;
    let next = cut(&mut addresses).map(|last| {
        let DoNotMailCursor { key, address_id } = &last.cursor;
        query(&[
            ("text", text),
            ("after", key),
            ("after_id", &address_id.to_string()),
        ])
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
    Ok(if is_refused {
        refused(&shown)
    } else {
        page(&shown)
    })
}

#[derive(Deserialize)]
struct DoNotMailAddForm {
    address: String,
}

/// Puts one address on the list.
async fn add(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: CampaignPath,
    form: Result<Form<DoNotMailAddForm>, FormRejection>,
) -> Result<Response, PageError> {
    let campaign_id = path?.0;
    find(&console, &person, &campaign_id).await?;
    let Form(DoNotMailAddForm { address }) = form?;
    let listed = match AddressListEntry::from_line(&address) {
        Ok(listed) => listed,
        Err(problem) => {
            let problem = Some(format!("{problem}."));
            let what = RejectedDoNotMailInput {
                typed: address,
                problem,
                file_problem: None,
            };
            let frame = PageFrame::new(&person, PART);
            return list_page(
                &console,
                &person,
                frame,
                &campaign_id,
                DoNotMailListQuery::default(),
                what,
            )
            .await;
        }
    };
    let (store, now) = (&console.process.store, console.process.clock.now());
    let added = campaigns::add_do_not_mail(
        store,
        person.actor(),
        person.0.team_id,
        &campaign_id,
        &[listed],
        now,
    )
    .await?;
    let notice = match added {
        0 => ActionNotice::AddressListedBefore,
        _ => ActionNotice::AddressListed,
    };
    Ok(done(&list_address(&campaign_id), notice))
}

#[derive(Deserialize)]
struct DoNotMailRemoveForm {
    address_id: Uuid,
}

/// Takes an address off the list.
async fn remove(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: CampaignPath,
    form: Result<Form<DoNotMailRemoveForm>, FormRejection>,
) -> Result<Response, PageError> {
    let campaign_id = path?.0;
    find(&console, &person, &campaign_id).await?;
    let Form(DoNotMailRemoveForm { address_id }) = form?;
    let (store, now) = (&console.process.store, console.process.clock.now());
    let listed = (&campaign_id, address_id);
    let is_removed =
        campaigns::remove_do_not_mail(store, person.actor(), person.0.team_id, listed, now).await?;
    let notice = if is_removed {
        ActionNotice::AddressUnlisted
    } else {
        ActionNotice::AddressUnlistedBefore
    };
    Ok(done(&list_address(&campaign_id), notice))
}

/// Where the list's page is.
fn list_address(campaign_id: &CampaignId) -> String {
    format!("/campaigns/{campaign_id}/do-not-mail")
}
