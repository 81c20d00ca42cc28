//! One integration: its status, keys and last sync, and what its owner can do with it.

use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::response::Response;
use contract::limits::ACTIVE_INTEGRATION_KEYS;
use contract::push::{PUSH_API, SyncView};
use secret::KeyText;
use serde::Deserialize;
use store::{Availability, Integration, KeySummary, LastRemoval};

use super::{OfIntegration, PART, Progress, find, words};
use crate::Console;
use crate::access::Person;
use crate::answer::{Frame, Notice, Noticed, done, page, refused};
use crate::failure::Failure;

/// What the page shows beside what is stored.
#[derive(Default)]
pub(super) struct Shown {
    /// What has just been done.
    pub(super) notice: Option<Notice>,
    /// A key that has just been made, shown this once.
    pub(super) made: Option<KeyText>,
    /// What is wrong with a key that was to be made.
    pub(super) key_problem: Option<String>,
    /// The share that was typed, and what is wrong with it.
    pub(super) guard_problem: Option<(String, String)>,
}

#[derive(Template)]
#[template(path = "integration.html")]
pub(super) struct DetailPage {
    frame: Frame,
    integration: Integration,
    status: &'static str,
    next_step: String,
    fields: usize,
    missing: Vec<&'static str>,
    latest: Option<SyncView>,
    removal: Option<LastRemoval>,
    keys: Vec<KeySummary>,
    may_make_key: bool,
    most_keys: i64,
    guard: String,
    shown: Shown,
    public_url: String,
}

impl DetailPage {
    fn is_active(&self) -> bool {
        self.integration.availability == Availability::Active
    }
}

/// The page.
pub(super) async fn show(
    State(console): State<Console>,
    person: Person,
    path: OfIntegration,
    noticed: Result<Query<Noticed>, QueryRejection>,
) -> Result<Response, Failure> {
    let integration = find(&console, &person, path).await?;
    let Query(Noticed { notice }) = noticed?;
    let shown = Shown { notice, ..Shown::default() };
    Ok(page(&detail_page(&console, &person, integration, shown).await?))
}

pub(super) async fn detail_page(
    console: &Console,
    person: &Person,
    integration: Integration,
    shown: Shown,
) -> Result<DetailPage, Failure> {
    let (store, integration_id) = (&console.process.store, integration.integration_id);
    let progress = Progress::of(console, &integration).await?;
    let standing = progress.standing();
    let keys = store.key_list_of_integration(person.0.team_id, integration_id).await?;
    let active = keys.iter().filter(|key| key.revoked_at.is_none()).count() as i64;
    let stored_guard = integration.removal_guard_percent.map(|percent| percent.to_string());
    Ok(DetailPage {
        status: words(integration.status(&standing)),
        next_step: standing.next_step(&PUSH_API),
        missing: standing.missing(),
        fields: progress.fields.len(),
        removal: store.sync_last_removal(integration_id).await?,
        may_make_key: person.is_manager() && active < ACTIVE_INTEGRATION_KEYS,
        most_keys: ACTIVE_INTEGRATION_KEYS,
        guard: shown
            .guard_problem
            .as_ref()
            .map(|(typed, _)| typed.clone())
            .or(stored_guard)
            .unwrap_or_default(),
        public_url: console.process.config.console.public_url.clone(),
        frame: Frame::new(person, PART).with_notice(shown.notice),
        latest: progress.latest,
        integration,
        keys,
        shown,
    })
}

/// Refuses its requests until it is resumed.
pub(super) async fn pause(
    State(console): State<Console>,
    person: Person,
    path: OfIntegration,
) -> Result<Response, Failure> {
    let change = (Availability::Paused, "integration.paused", Notice::IntegrationPaused);
    set_availability(&console, &person, path, change).await
}

/// Takes its requests again.
pub(super) async fn resume(
    State(console): State<Console>,
    person: Person,
    path: OfIntegration,
) -> Result<Response, Failure> {
    let change = (Availability::Active, "integration.resumed", Notice::IntegrationResumed);
    set_availability(&console, &person, path, change).await
}

/// Refuses its requests; for one that the owner is done with.
pub(super) async fn disconnect(
    State(console): State<Console>,
    person: Person,
    path: OfIntegration,
) -> Result<Response, Failure> {
    let change = (Availability::Disconnected, "integration.disconnected", Notice::IntegrationDisconnected);
    set_availability(&console, &person, path, change).await
}

async fn set_availability(
    console: &Console,
    person: &Person,
    path: OfIntegration,
    (availability, action, notice): (Availability, &str, Notice),
) -> Result<Response, Failure> {
    let Integration { integration_id, name, .. } = find(console, person, path).await?;
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    transaction.integration_set_availability(person.0.team_id, integration_id, availability).await?;
    transaction.activity_add(&person.0, action, &name, console.process.clock.now()).await?;
    transaction.commit().await?;
    Ok(done(&format!("{PART}/{integration_id}"), notice))
}

#[derive(Deserialize)]
pub(super) struct GuardForm {
    percent: String,
}

/// Sets the share of contacts that a full sync removes without asking; a blank one clears it.
pub(super) async fn set_guard(
    State(console): State<Console>,
    person: Person,
    path: OfIntegration,
    form: Result<Form<GuardForm>, FormRejection>,
) -> Result<Response, Failure> {
    let integration = find(&console, &person, path).await?;
    let Form(GuardForm { percent: typed }) = form?;
    let Some(percent) = read_percent(&typed) else {
        let problem = "Give a whole number from 0 to 100, or leave it blank.".to_owned();
        let shown = Shown { guard_problem: Some((typed, problem)), ..Shown::default() };
        return Ok(refused(&detail_page(&console, &person, integration, shown).await?));
    };
    let (action, notice) = match percent {
        Some(_) => ("integration.guarded", Notice::GuardSet),
        None => ("integration.unguarded", Notice::GuardCleared),
    };
    let (team_id, integration_id) = (person.0.team_id, integration.integration_id);
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    transaction.integration_set_guard(team_id, integration_id, percent).await?;
    transaction.activity_add(&person.0, action, &integration.name, console.process.clock.now()).await?;
    transaction.commit().await?;
    Ok(done(&format!("{PART}/{integration_id}"), notice))
}

/// A share in percent, or none for a blank; `None` for what is neither.
fn read_percent(typed: &str) -> Option<Option<i16>> {
    match typed.trim().trim_end_matches('%').trim_end() {
        "" => Some(None),
        number => number.parse().ok().filter(|percent| (0..=100).contains(percent)).map(Some),
    }
}

/// Restores what the last removal removed.
pub(super) async fn undo_removal(
    State(console): State<Console>,
    person: Person,
    path: OfIntegration,
) -> Result<Response, Failure> {
    let Integration { integration_id, name, .. } = find(&console, &person, path).await?;
    let now = console.process.clock.now();
    let mut connection = console.process.store.connection().await?;
    let transaction = connection.begin().await?;
    transaction.sync_undo_removal(integration_id, now).await?;
    transaction.activity_add(&person.0, "integration.removal_undone", &name, now).await?;
    transaction.commit().await?;
    Ok(done(&format!("{PART}/{integration_id}"), Notice::RemovalUndone))
}

#[cfg(test)]
mod tests {
    use super::read_percent;

    #[test]
    fn a_share_is_a_whole_number_of_percent_or_blank() {
        assert_eq!(read_percent(" "), Some(None));
        for (typed, percent) in [("0", 0), (" 25 ", 25), ("100 %", 100)] {
            assert_eq!(read_percent(typed), Some(Some(percent)), "{typed}");
        }
        for typed in ["-1", "101", "2.5", "many", "99999999"] {
            assert_eq!(read_percent(typed), None, "{typed}");
        }
    }
}
