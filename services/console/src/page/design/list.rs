//! The designs of a team.

use askama::Template;
use serde::Deserialize;
use store::DesignSummary;

use crate::extract::{MemberContext, PageQuery};
use crate::frame::PageFrame;
use crate::page_error::PageResult;
use crate::paging::{LINES, cut_page, url_query};
use crate::render::render_page;

#[derive(Deserialize)]
pub(crate) struct DesignListQuery {
    #[serde(default)]
    after: String,
}

#[derive(Template)]
#[template(path = "designs.html")]
struct DesignsPage {
    frame: PageFrame,
    designs: Vec<DesignSummary>,
    /// Behind which name the next page begins, as it stands in an address.
    next: Option<String>,
}

/// The page.
pub(crate) async fn list_designs(
    context: MemberContext,
    PageQuery(cursor): PageQuery<DesignListQuery>,
) -> PageResult {
    let store = context.store();
    let mut designs = store
        .list_designs(context.team_id(), &cursor.after, LINES + 1)
        .await?;
    let next = cut_page(&mut designs).map(|last| url_query(&[("after", &last.name)]));
    Ok(render_page(&DesignsPage {
        frame: context.frame("/designs"),
        designs,
        next,
    }))
}
