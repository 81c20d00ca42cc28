//! One integration: its status, keys and last sync, and what its owner can do with it.

use askama::Template;
use axum::Form;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use contract::push::{PUSH_API, SyncView};
use integrations::{SetGuardError, format_guard};
use model::limits::ACTIVE_INTEGRATION_KEYS;
use serde::Deserialize;
use store::{
    ApiKeySummary, HeldBackSync, Integration, IntegrationAvailability, LastSyncRemoval, StoreError,
};

use super::{IntegrationPath, IntegrationProgress, PART, find, held_back, held_back_words, words};
use crate::ConsoleState;
use crate::access::CurrentMember;
use crate::answer::{ActionNotice, NoticeQuery, PageFrame, done, page, refused};
use crate::failure::PageError;
use crate::page::key::made_key;
use crate::seen::fingerprint;

/// What the page shows beside what is stored.
#[derive(Default)]
pub(super) struct IntegrationPageState {
    /// What has just been done.
    pub(super) notice: Option<ActionNotice>,
    /// A key that was made a moment ago, shown this once.
    pub(super) made: Option<String>,
    /// What is wrong with a key that was to be made.
    pub(super) key_problem: Option<String>,
    /// The form of the guard, and what is wrong with it.
    pub(super) guard_problem: Option<(RemovalGuardForm, String)>,
    /// What was typed to remove it, and is not its name.
    pub(super) not_its_name: Option<String>,
}

#[derive(Template)]
#[template(path = "integration.html")]
pub(super) struct IntegrationPage {
    frame: PageFrame,
    integration: Integration,
    status: &'static str,
    next_step: String,
    fields: usize,
    missing: Vec<&'static str>,
    latest: Option<SyncView>,
    held_back: Option<HeldBackSync>,
    removal: Option<LastSyncRemoval>,
    keys: Vec<ApiKeySummary>,
    may_make_key: bool,
    most_keys: i64,
    guard: String,
    guard_seen: String,
    erased_after_days: i64,
    undo_days: i64,
    shown: IntegrationPageState,
    public_url: String,
}

impl IntegrationPage {
    fn is_active(&self) -> bool {
        self.integration.availability == IntegrationAvailability::Active
    }
}

/// The page.
pub(super) async fn show(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: IntegrationPath,
    headers: HeaderMap,
    noticed: Result<Query<NoticeQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let integration = find(&console, &person, path).await?;
    let Query(NoticeQuery { notice }) = noticed?;
    let made = made_key(&console, &person, &headers).await?;
    let shown = IntegrationPageState {
        notice,
        made,
        ..IntegrationPageState::default()
    };
    Ok(page(
        &detail_page(&console, &person, integration, shown).await?,
    ))
}

pub(super) async fn detail_page(
    console: &ConsoleState,
    person: &CurrentMember,
    integration: Integration,
    shown: IntegrationPageState,
) -> Result<IntegrationPage, PageError> {
    let (store, integration_id) = (&console.process.store, integration.integration_id);
    let (syncer, now) = (&console.process.config.syncer, console.process.clock.now());
    let progress = IntegrationProgress::of(console, &integration).await?;
    let standing = progress.standing();
    let keys = store
        .list_integration_api_keys(person.0.team_id, integration_id)
        .await?;
    let active = keys.iter().filter(|key| key.revoked_at.is_none()).count() as i64;
    let (guard, guard_seen) = match &shown.guard_problem {
        Some((RemovalGuardForm { percent, seen }, _)) => (percent.clone(), seen.clone()),
        None => {
            let stored = integration.removal_guard_percent;
            (
                stored.map_or_else(String::new, |percent| percent.to_string()),
                fingerprint(&stored),
            )
        }
    };
    Ok(IntegrationPage {
        status: words(integration.status(&standing)),
        next_step: standing.next_step(&PUSH_API),
        missing: standing.missing_semantics(),
        fields: progress.fields.len(),
        held_back: held_back(console, person, integration_id).await?,
        removal: store
            .find_last_removal(integration_id, syncer.removals_undone_since(now))
            .await?,
        undo_days: syncer.removal_undo_days,
        may_make_key: person.is_manager() && active < ACTIVE_INTEGRATION_KEYS,
        most_keys: ACTIVE_INTEGRATION_KEYS,
        guard,
        guard_seen,
        erased_after_days: syncer.removed_integration_days,
        public_url: console.process.config.console.public_url.clone(),
        frame: PageFrame::new(person, PART).with_notice(shown.notice),
        latest: progress.latest,
        integration,
        keys,
        shown,
    })
}

/// Refuses its requests until it is resumed.
pub(super) async fn pause(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: IntegrationPath,
) -> Result<Response, PageError> {
    let address = set_availability(&console, &person, path, IntegrationAvailability::Paused);
    Ok(done(&address.await?, ActionNotice::IntegrationPaused))
}

/// Takes its requests again.
pub(super) async fn resume(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: IntegrationPath,
) -> Result<Response, PageError> {
    let address = set_availability(&console, &person, path, IntegrationAvailability::Active);
    Ok(done(&address.await?, ActionNotice::IntegrationResumed))
}

/// Refuses its requests; for one that the owner is done with.
pub(super) async fn disconnect(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: IntegrationPath,
) -> Result<Response, PageError> {
    let availability = IntegrationAvailability::Disconnected;
    let address = set_availability(&console, &person, path, availability).await?;
    Ok(done(&address, ActionNotice::IntegrationDisconnected))
}

/// Sets it, and says where the integration's page is.
async fn set_availability(
    console: &ConsoleState,
    person: &CurrentMember,
    path: IntegrationPath,
    availability: IntegrationAvailability,
) -> Result<String, PageError> {
    let integration = find(console, person, path).await?;
    let (store, now) = (&console.process.store, console.process.clock.now());
    integrations::set_integration_availability(
        store,
        person.actor(),
        &integration,
        availability,
        now,
    )
    .await?;
    Ok(format!("{PART}/{}", integration.integration_id))
}

#[derive(Deserialize)]
pub(super) struct IntegrationRemovalForm {
    /// The integration's name, so that nobody removes another one than was meant.
    name: String,
}

/// Removes it, when its name was typed.
pub(super) async fn remove(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: IntegrationPath,
    form: Result<Form<IntegrationRemovalForm>, FormRejection>,
) -> Result<Response, PageError> {
    let integration = find(&console, &person, path).await?;
    let Form(IntegrationRemovalForm { name }) = form?;
    if name.trim() != integration.name {
        let shown = IntegrationPageState {
            not_its_name: Some(name),
            ..IntegrationPageState::default()
        };
        return Ok(refused(
            &detail_page(&console, &person, integration, shown).await?,
        ));
    }
    let (store, now) = (&console.process.store, console.process.clock.now());
    integrations::remove_integration(store, person.actor(), &integration, now).await?;
    Ok(done(PART, ActionNotice::IntegrationRemoved))
}

#[derive(Deserialize)]
pub(super) struct RemovalGuardForm {
    percent: String,
    /// The guard that stood there when the form was made.
    #[serde(default)]
    seen: String,
}

/// Sets the share of contacts that a full sync removes without asking; a blank one clears it.
pub(super) async fn set_guard(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: IntegrationPath,
    form: Result<Form<RemovalGuardForm>, FormRejection>,
) -> Result<Response, PageError> {
    let integration = find(&console, &person, path).await?;
    let Form(form) = form?;
    let Some(percent) = read_percent(&form.percent) else {
        let problem = "Give a whole number from 0 to 100, or leave it blank.".to_owned();
        return guard_refused(&console, &person, integration, (form, problem)).await;
    };
    let notice = match percent {
        Some(_) => ActionNotice::GuardSet,
        None => ActionNotice::GuardCleared,
    };
    let set = integrations::set_removal_guard(
        &console.process.store,
        person.actor(),
        &integration,
        percent,
        |standing| fingerprint(&standing) == form.seen,
        console.process.clock.now(),
    );
    match set.await {
        Ok(()) => {
            let address = format!("{PART}/{}", integration.integration_id);
            Ok(done(&address, notice))
        }
        Err(SetGuardError::Overtaken(standing)) => {
            let stands = format_guard(standing);
            let problem = format!(
                "Nothing was saved: somebody set the guard meanwhile. It is {stands} now. Save again to replace that."
            );
            let integration = Integration {
                removal_guard_percent: standing,
                ..integration
            };
            let seen = fingerprint(&standing);
            let form = RemovalGuardForm { seen, ..form };
            guard_refused(&console, &person, integration, (form, problem)).await
        }
        Err(SetGuardError::Store(error)) => Err(error.into()),
    }
}

async fn guard_refused(
    console: &ConsoleState,
    person: &CurrentMember,
    integration: Integration,
    guard_problem: (RemovalGuardForm, String),
) -> Result<Response, PageError> {
    let shown = IntegrationPageState {
        guard_problem: Some(guard_problem),
        ..IntegrationPageState::default()
    };
    Ok(refused(
        &detail_page(console, person, integration, shown).await?,
    ))
}

/// A share in percent, or none for a blank; `None` for what is neither.
fn read_percent(typed: &str) -> Option<Option<i16>> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Some(None);
    }
    let number = typed.strip_suffix('%').unwrap_or(typed).trim_end();
    number
        .parse()
        .ok()
        .filter(|percent| (0..=100).contains(percent))
        .map(Some)
}

/// Restores what the last removal removed.
pub(super) async fn undo_removal(
    State(console): State<ConsoleState>,
    person: CurrentMember,
    path: IntegrationPath,
) -> Result<Response, PageError> {
    let integration = find(&console, &person, path).await?;
    let (store, now) = (&console.process.store, console.process.clock.now());
    let since = console.process.config.syncer.removals_undone_since(now);
    let undone = integrations::undo_removal(store, person.actor(), &integration, since, now).await;
    let notice = match undone {
        Ok(_) => ActionNotice::RemovalUndone,
        Err(StoreError::NotFound(_)) => ActionNotice::RemovalUndoneBefore,
        Err(error) => return Err(error.into()),
    };
    let address = format!("{PART}/{}", integration.integration_id);
    Ok(done(&address, notice))
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
        for typed in ["-1", "101", "2.5", "many", "99999999", "%", " % ", "5 %%"] {
            assert_eq!(read_percent(typed), None, "{typed}");
        }
    }
}
