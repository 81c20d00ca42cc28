//! What happened lately.

mod chart;
mod figures;

use askama::Template;
use contract::push::SyncView;
use model::id::IntegrationId;
use store::{Endpoint, EndpointState, HeldBackSync};

use self::chart::BarChart;
use self::figures::DailyFigures;
use crate::extract::MemberContext;
use crate::format::{format_dollars, format_number};
use crate::frame::PageFrame;
use crate::page_error::PageResult;
use crate::render::render_page;

/// Integrations whose last sync is shown: those that synced last.
const SYNCS: i64 = 5;

/// An endpoint that does not get what it should, in words.
struct FailingEndpointRow {
    endpoint: Endpoint,
    what: String,
}

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: PageFrame,
    balance: String,
    has_campaigns: bool,
    sends: String,
    mailed: String,
    not_mailed: String,
    cards: String,
    scans: String,
    charts: [BarChart; 2],
    reasons: Vec<(&'static str, String)>,
    syncs: Vec<(IntegrationId, String, SyncView)>,
    held_back: Vec<HeldBackSync>,
    troubles: Vec<FailingEndpointRow>,
    days: usize,
    public_url: String,
}

/// The page. Each of its statements costs as many rows as it shows, or as a team has campaigns, however much they mailed.
pub(crate) async fn show_home(context: MemberContext) -> PageResult {
    let (store, team_id) = (context.store(), context.team_id());
    let now = context.now();
    let frame = context.frame("/");
    let days = figures::last_days(context.today());
    let figures = DailyFigures::of(
        &store.list_campaign_day_figures(team_id, days[0]).await?,
        &days,
    );
    let troubles = store
        .list_endpoints(team_id)
        .await?
        .into_iter()
        .filter_map(FailingEndpointRow::of)
        .collect();
    let total = |numbers: &[i64]| format_number(numbers.iter().sum::<i64>().unsigned_abs());
    Ok(render_page(&HomePage {
        balance: format_dollars(store.find_balance(team_id).await?),
        has_campaigns: !store
            .list_campaign_page(team_id, false, "", 1)
            .await?
            .is_empty(),
        sends: total(&figures.sends),
        mailed: total(&figures.mailed),
        not_mailed: total(&figures.not_mailed),
        cards: total(&figures.cards),
        scans: total(&figures.scans),
        reasons: figures.reason_counts(),
        charts: [
            BarChart::new(
                "Recipients by day",
                &days,
                &[
                    ("Mailed", &figures.mailed),
                    ("Not mailed", &figures.not_mailed),
                ],
            ),
            BarChart::new("Scans by day", &days, &[("Scans", &figures.scans)]),
        ],
        syncs: store.list_team_syncs(team_id, SYNCS, now).await?,
        held_back: store.list_held_back_syncs(team_id, now).await?,
        troubles,
        days: days.len(),
        public_url: context.public_url(),
        frame,
    }))
}

impl FailingEndpointRow {
    /// What is wrong with an endpoint; `None` when nothing is.
    fn of(endpoint: Endpoint) -> Option<Self> {
        let failures = format_number(u64::from(endpoint.failures_in_row.unsigned_abs()));
        let what = match (endpoint.state, endpoint.failures_in_row) {
            (EndpointState::Disabled, _) => {
                format!("Disabled after {failures} failed attempts in a row")
            }
            (EndpointState::Active, 1) => "The last attempt failed".to_owned(),
            (EndpointState::Active, 2..) => format!("The last {failures} attempts failed"),
            _ => return None,
        };
        Some(Self { endpoint, what })
    }
}
