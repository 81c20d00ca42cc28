//! The do-not-mail list of a campaign: looked through, added to, taken from.

mod file;
pub(crate) mod upload;

use address::AddressListEntry;
use askama::Template;
use axum::Form;
use model::id::CampaignId;
use serde::Deserialize;
use store::{CampaignSummary, DoNotMailAddress, DoNotMailCursor};
use uuid::Uuid;

use super::{CampaignPath, PART, find_campaign};
use crate::extract::{FormResult, MemberContext, PagePath, PageQuery};
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::PageResult;
use crate::paging::{LINES, cut_page, url_query};
use crate::render::render_form;

/// Which part of the list is shown.
#[derive(Default, Deserialize)]
pub(crate) struct DoNotMailListQuery {
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
pub(crate) async fn show_do_not_mail(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
    PageQuery(shown): PageQuery<DoNotMailListQuery>,
) -> PageResult {
    let nothing = RejectedDoNotMailInput::default();
    list_page(&context, &campaign_id, shown, nothing).await
}

async fn list_page(
    context: &MemberContext,
    campaign_id: &CampaignId,
    shown: DoNotMailListQuery,
    RejectedDoNotMailInput {
        typed,
        problem,
        file_problem,
    }: RejectedDoNotMailInput,
) -> PageResult {
    let campaign = find_campaign(context, campaign_id).await?;
    let text = shown.text.trim();
    let after = DoNotMailCursor {
        key: shown.after,
        address_id: shown.after_id.unwrap_or_default(),
    };
    let store = context.store();
    let mut addresses = store
        .list_do_not_mail(context.team_id(), campaign_id, text, &after, LINES + 1)
        .await?;
    let next = cut_page(&mut addresses).map(|last| {
        let DoNotMailCursor { key, address_id } = &last.cursor;
        url_query(&[
            ("text", text),
            ("after", key),
            ("after_id", &address_id.to_string()),
        ])
    });
    let is_refused = problem.is_some() || file_problem.is_some();
    let shown = DoNotMailPage {
        frame: context.frame(PART),
        campaign,
        addresses,
        text: text.to_owned(),
        is_first: after.key.is_empty(),
        next,
        typed,
        problem,
        file_problem,
    };
    Ok(render_form(&shown, is_refused))
}

#[derive(Deserialize)]
pub(crate) struct DoNotMailAddForm {
    address: String,
}

/// Puts one address on the list.
pub(crate) async fn add_address(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
    form: FormResult<DoNotMailAddForm>,
) -> PageResult {
    find_campaign(&context, &campaign_id).await?;
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
            let first = DoNotMailListQuery::default();
            return list_page(&context, &campaign_id, first, what).await;
        }
    };
    let (store, now) = (context.store(), context.now());
    let added = campaigns::add_do_not_mail(
        store,
        context.actor(),
        context.team_id(),
        &campaign_id,
        &[listed],
        now,
    )
    .await?;
    let notice = match added {
        0 => ActionNotice::AddressListedBefore,
        _ => ActionNotice::AddressListed,
    };
    Ok(redirect_with_notice(&list_address(&campaign_id), notice))
}

#[derive(Deserialize)]
pub(crate) struct DoNotMailRemoveForm {
    address_id: Uuid,
}

/// Takes an address off the list.
pub(crate) async fn remove_recipients_at(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
    form: FormResult<DoNotMailRemoveForm>,
) -> PageResult {
    find_campaign(&context, &campaign_id).await?;
    let Form(DoNotMailRemoveForm { address_id }) = form?;
    let (store, now) = (context.store(), context.now());
    let listed = (&campaign_id, address_id);
    let is_removed =
        campaigns::remove_do_not_mail(store, context.actor(), context.team_id(), listed, now)
            .await?;
    let notice = if is_removed {
        ActionNotice::AddressUnlisted
    } else {
        ActionNotice::AddressUnlistedBefore
    };
    Ok(redirect_with_notice(&list_address(&campaign_id), notice))
}

/// Where the list's page is.
fn list_address(campaign_id: &CampaignId) -> String {
    format!("/campaigns/{campaign_id}/do-not-mail")
}
