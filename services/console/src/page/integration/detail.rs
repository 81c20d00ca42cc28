//! One integration: its status, keys and last sync, and what its owner can do with it.

use askama::Template;
use axum::Form;
use contract::push::{PUSH_API, SyncView};
use integrations::{SetGuardError, format_guard};
use model::id::ApiKeyId;
use model::limits::ACTIVE_INTEGRATION_KEYS;
use serde::Deserialize;
use store::{
    ApiKeySummary, HeldBackSync, Integration, IntegrationAvailability, LastSyncRemoval, StoreError,
};

use super::{
    IntegrationPath, IntegrationProgress, PART, find_held_back, find_integration, status_name,
};
use crate::extract::{FormResult, MemberContext};
use crate::fingerprint::fingerprint_of;
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::{PageError, PageResult};
use crate::render::{render_page, render_refusal};

/// What the page shows beside what is stored.
#[derive(Default)]
pub(super) struct IntegrationPageState {
    /// A key that has just been made, shown this once.
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
    new_key_id: ApiKeyId,
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
pub(crate) async fn show_integration(context: MemberContext, path: IntegrationPath) -> PageResult {
    let integration = find_integration(&context, path).await?;
    let shown = IntegrationPageState::default();
    Ok(render_page(
        &detail_page(&context, integration, shown).await?,
    ))
}

pub(super) async fn detail_page(
    context: &MemberContext,
    integration: Integration,
    shown: IntegrationPageState,
) -> Result<IntegrationPage, PageError> {
    let (store, integration_id) = (context.store(), integration.integration_id);
    let (syncer, now) = (&context.config().syncer, context.now());
    let progress = IntegrationProgress::of(context, &integration).await?;
    let standing = progress.readiness();
    let keys = store
        .list_integration_api_keys(context.team_id(), integration_id)
        .await?;
    let active = keys.iter().filter(|key| key.revoked_at.is_none()).count() as i64;
    let (guard, guard_seen) = match &shown.guard_problem {
        Some((RemovalGuardForm { percent, seen }, _)) => (percent.clone(), seen.clone()),
        None => {
            let stored = integration.removal_guard_percent;
            (
                stored.map_or_else(String::new, |percent| percent.to_string()),
                fingerprint_of(&stored),
            )
        }
    };
    Ok(IntegrationPage {
        status: status_name(integration.status(&standing)),
        next_step: standing.next_step(&PUSH_API),
        missing: standing.missing_semantics(),
        fields: progress.fields.len(),
        held_back: find_held_back(context, integration_id).await?,
        removal: store
            .find_last_removal(integration_id, syncer.removals_undone_since(now))
            .await?,
        undo_days: syncer.removal_undo_days,
        may_make_key: context.is_manager() && active < ACTIVE_INTEGRATION_KEYS,
        new_key_id: ApiKeyId::new(),
        most_keys: ACTIVE_INTEGRATION_KEYS,
        guard,
        guard_seen,
        erased_after_days: syncer.removed_integration_days,
        public_url: context.public_url(),
        frame: context.frame(PART),
        latest: progress.latest,
        integration,
        keys,
        shown,
    })
}

/// Refuses its requests until it is resumed.
pub(crate) async fn pause_integration(context: MemberContext, path: IntegrationPath) -> PageResult {
    let address = set_availability(&context, path, IntegrationAvailability::Paused);
    Ok(redirect_with_notice(
        &address.await?,
        ActionNotice::IntegrationPaused,
    ))
}

/// Takes its requests again.
pub(crate) async fn resume_integration(
    context: MemberContext,
    path: IntegrationPath,
) -> PageResult {
    let address = set_availability(&context, path, IntegrationAvailability::Active);
    Ok(redirect_with_notice(
        &address.await?,
        ActionNotice::IntegrationResumed,
    ))
}

/// Refuses its requests; for one that the owner is done with.
pub(crate) async fn disconnect_integration(
    context: MemberContext,
    path: IntegrationPath,
) -> PageResult {
    let availability = IntegrationAvailability::Disconnected;
    let address = set_availability(&context, path, availability).await?;
    Ok(redirect_with_notice(
        &address,
        ActionNotice::IntegrationDisconnected,
    ))
}

/// Sets it, and says where the integration's page is.
async fn set_availability(
    context: &MemberContext,
    path: IntegrationPath,
    availability: IntegrationAvailability,
) -> Result<String, PageError> {
    let integration = find_integration(context, path).await?;
    let (store, now) = (context.store(), context.now());
    integrations::set_integration_availability(
        store,
        context.actor(),
        &integration,
        availability,
        now,
    )
    .await?;
    Ok(format!("{PART}/{}", integration.integration_id))
}

#[derive(Deserialize)]
pub(crate) struct IntegrationRemovalForm {
    /// The integration's name, so that nobody removes another one than was meant.
    name: String,
}

/// Removes it, when its name was typed.
pub(crate) async fn remove_integration(
    context: MemberContext,
    path: IntegrationPath,
    form: FormResult<IntegrationRemovalForm>,
) -> PageResult {
    let integration = find_integration(&context, path).await?;
    let Form(IntegrationRemovalForm { name }) = form?;
    if name.trim() != integration.name {
        let shown = IntegrationPageState {
            not_its_name: Some(name),
            ..IntegrationPageState::default()
        };
        return Ok(render_refusal(
            &detail_page(&context, integration, shown).await?,
        ));
    }
    let (store, now) = (context.store(), context.now());
    integrations::remove_integration(store, context.actor(), &integration, now).await?;
    Ok(redirect_with_notice(PART, ActionNotice::IntegrationRemoved))
}

#[derive(Deserialize)]
pub(crate) struct RemovalGuardForm {
    percent: String,
    /// The guard that stood there when the form was made.
    #[serde(default)]
    seen: String,
}

/// Sets the share of contacts that a full sync removes without asking; a blank one clears it.
pub(crate) async fn set_guard(
    context: MemberContext,
    path: IntegrationPath,
    form: FormResult<RemovalGuardForm>,
) -> PageResult {
    let integration = find_integration(&context, path).await?;
    let Form(form) = form?;
    let Some(percent) = read_percent(&form.percent) else {
        let problem = "Give a whole number from 0 to 100, or leave it blank.".to_owned();
        return guard_refused(&context, integration, (form, problem)).await;
    };
    let notice = match percent {
        Some(_) => ActionNotice::GuardSet,
        None => ActionNotice::GuardCleared,
    };
    let set = integrations::set_removal_guard(
        context.store(),
        context.actor(),
        &integration,
        percent,
        |standing| fingerprint_of(&standing) == form.seen,
        context.now(),
    );
    match set.await {
        Ok(()) => {
            let address = format!("{PART}/{}", integration.integration_id);
            Ok(redirect_with_notice(&address, notice))
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
            let seen = fingerprint_of(&standing);
            let form = RemovalGuardForm { seen, ..form };
            guard_refused(&context, integration, (form, problem)).await
        }
        Err(SetGuardError::Store(error)) => Err(error.into()),
    }
}

async fn guard_refused(
    context: &MemberContext,
    integration: Integration,
    guard_problem: (RemovalGuardForm, String),
) -> PageResult {
    let shown = IntegrationPageState {
        guard_problem: Some(guard_problem),
        ..IntegrationPageState::default()
    };
    Ok(render_refusal(
        &detail_page(context, integration, shown).await?,
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
pub(crate) async fn undo_removal(context: MemberContext, path: IntegrationPath) -> PageResult {
    let integration = find_integration(&context, path).await?;
    let (store, now) = (context.store(), context.now());
    let since = context.config().syncer.removals_undone_since(now);
    let undone = integrations::undo_removal(store, context.actor(), &integration, since, now).await;
    let notice = match undone {
        Ok(_) => ActionNotice::RemovalUndone,
        Err(StoreError::NotFound(_)) => ActionNotice::RemovalUndoneBefore,
        Err(error) => return Err(error.into()),
    };
    let address = format!("{PART}/{}", integration.integration_id);
    Ok(redirect_with_notice(&address, notice))
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
