//! One endpoint: its state, campaigns, signatures and last deliveries.

use askama::Template;
use axum::Form;
use axum::extract::RawForm;
use axum::extract::rejection::RawFormRejection;
use axum::response::Response;
use chrono::{DateTime, TimeDelta, Utc};
use contract::webhook::MailpieceEventState;
use delivering::EndpointError;
use model::id::EndpointId;
use model::limits::DELIVERIES_SHOWN;
use secret::SigningSecret;
use serde::Deserialize;
use store::{DeliverySummary, Endpoint, EndpointState};
use url::form_urlencoded;

use super::scope::{CampaignChoice, ScopeForm, campaign_choices};
use super::{EndpointPath, PART, endpoint_manager, find_endpoint, state_name};
use crate::extract::{FormResult, MemberContext, PagePath, PageQuery};
use crate::fingerprint::fingerprint_of;
use crate::format::format_number;
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::{PageError, PageResult};
use crate::render::{render_page, render_refusal};

/// What the page shows beside what is stored.
#[derive(Default)]
pub(super) struct EndpointPageState {
    /// How many deliveries have just been sent again.
    pub(super) replayed: Option<u64>,
    /// A key that signs and was made a moment ago, shown this once.
    pub(super) secret: Option<String>,
    /// The campaigns that were chosen, and what is wrong with them.
    pub(super) scope_problem: Option<(ScopeForm, String)>,
    /// The time that was typed, and what is wrong with it.
    pub(super) replay_problem: Option<(String, String)>,
}

#[derive(Template)]
#[template(path = "endpoint.html")]
pub(super) struct EndpointPage {
    frame: PageFrame,
    endpoint: Endpoint,
    state: &'static str,
    is_active: bool,
    is_chosen: bool,
    scope_seen: String,
    signing_seen: String,
    choices: Vec<CampaignChoice>,
    events: Vec<EventChoice>,
    deliveries: Vec<DeliverySummary>,
    most_deliveries: i64,
    earlier_hours: i64,
    /// Until when an earlier key signs as well; there cannot be another one meanwhile.
    earlier_until: Option<DateTime<Utc>>,
    shown: EndpointPageState,
}

/// An event that an endpoint can hear of.
struct EventChoice {
    state: &'static str,
    name: &'static str,
    is_chosen: bool,
}

/// All of them.
fn event_choices(endpoint: &Endpoint) -> Vec<EventChoice> {
    let choices = MailpieceEventState::ALL.into_iter();
    choices
        .map(|state| EventChoice {
            state: state.as_str(),
            name: state.event_name(),
            is_chosen: endpoint
                .mailpiece_states
                .iter()
                .any(|chosen| chosen == state.as_str()),
        })
        .collect()
}

impl EndpointPage {
    fn scope_problem(&self) -> Option<&str> {
        self.shown
            .scope_problem
            .as_ref()
            .map(|(_, problem)| problem.as_str())
    }
}

/// How many deliveries a replay has sent again, in the address of the page behind it.
#[derive(Deserialize)]
pub(crate) struct ReplayedQuery {
    replayed: Option<u64>,
}

/// What a replay has done, for an endpoint that has failed so many times in a row.
fn replayed_sentence(replayed: u64, failures_in_row: i32) -> String {
    match replayed {
        0 if failures_in_row > 0 => "Nothing is sent again: no delivery has been given up since that time. Those whose attempts failed are waiting, and are tried again by themselves.".to_owned(),
        0 => "Nothing has failed since that time, so nothing is sent again.".to_owned(),
        1 => "1 delivery is on its way again.".to_owned(),
        more => format!("{} deliveries are on their way again.", format_number(more)),
    }
}

/// The page.
pub(crate) async fn show_endpoint(
    context: MemberContext,
    path: EndpointPath,
    PageQuery(ReplayedQuery { replayed }): PageQuery<ReplayedQuery>,
) -> PageResult {
    let endpoint = find_endpoint(&context, path).await?;
    let replayed = replayed.filter(|_| context.notice == Some(ActionNotice::FailedReplayed));
    let shown = EndpointPageState {
        replayed,
        ..EndpointPageState::default()
    };
    Ok(render_page(&detail_page(&context, endpoint, shown).await?))
}

pub(super) async fn detail_page(
    context: &MemberContext,
    endpoint: Endpoint,
    shown: EndpointPageState,
) -> Result<EndpointPage, PageError> {
    let (store, team_id) = (context.store(), context.team_id());
    let typed = shown.scope_problem.as_ref().map(|(form, _)| form);
    let chosen = match typed {
        Some(form) => form.campaigns.clone(),
        None => endpoint.campaigns.clone().unwrap_or_default(),
    };
    Ok(EndpointPage {
        state: state_name(endpoint.state),
        is_active: endpoint.state == EndpointState::Active,
        is_chosen: typed.map_or(endpoint.campaigns.is_some(), |form| form.is_chosen),
        scope_seen: typed.map_or_else(
            || fingerprint_of(&endpoint.campaigns),
            |form| form.seen.clone(),
        ),
        signing_seen: signing_fingerprint(&endpoint),
        events: event_choices(&endpoint),
        choices: campaign_choices(context, &chosen).await?,
        deliveries: store.list_deliveries(team_id, endpoint.endpoint_id).await?,
        most_deliveries: DELIVERIES_SHOWN,
        earlier_hours: context.config().dispatcher.earlier_secret_hours,
        earlier_until: endpoint
            .earlier_secret_until
            .filter(|until| *until > context.now()),
        frame: match shown.replayed {
            Some(replayed) => PageFrame {
                notice: Some(replayed_sentence(replayed, endpoint.failures_in_row).into()),
                ..context.frame(PART)
            },
            None => context.frame(PART),
        },
        endpoint,
        shown,
    })
}

fn back_to_endpoint(endpoint_id: EndpointId, notice: ActionNotice) -> Response {
    redirect_with_notice(&format!("{PART}/{endpoint_id}"), notice)
}

/// Has it hear of other campaigns.
pub(crate) async fn set_scope(
    context: MemberContext,
    path: EndpointPath,
    form: Result<RawForm, RawFormRejection>,
) -> PageResult {
    let endpoint = find_endpoint(&context, path).await?;
    let RawForm(bytes) = form?;
    let form = ScopeForm::parse(&bytes);
    let scope = match form.chosen_campaigns() {
        Ok(scope) => scope,
        Err(problem) => return scope_refused(&context, endpoint, (form, problem)).await,
    };
    let is_as_seen = |endpoint: &Endpoint| fingerprint_of(&endpoint.campaigns) == form.seen;
    let endpoint_id = endpoint.endpoint_id;
    match endpoint_manager(&context)
        .set_scope(endpoint_id, scope.as_deref(), is_as_seen)
        .await
    {
        Ok(()) => Ok(back_to_endpoint(endpoint_id, ActionNotice::EndpointChanged)),
        Err(EndpointError::Overtaken) => {
            let endpoint = context
                .store()
                .find_endpoint(context.team_id(), endpoint_id)
                .await?;
            let standing = endpoint
                .campaigns
                .as_ref()
                .map_or("all campaigns".to_owned(), |ids| ids.join(", "));
            let problem = format!(
                "Nothing was saved: somebody chose other campaigns meanwhile. It hears of {standing} now. Below is what you \
                 chose; save again to put it in the place of that."
            );
            let form = ScopeForm {
                seen: fingerprint_of(&endpoint.campaigns),
                ..form
            };
            scope_refused(&context, endpoint, (form, problem)).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn scope_refused(
    context: &MemberContext,
    endpoint: Endpoint,
    scope_problem: (ScopeForm, String),
) -> PageResult {
    let shown = EndpointPageState {
        scope_problem: Some(scope_problem),
        ..EndpointPageState::default()
    };
    Ok(render_refusal(
        &detail_page(context, endpoint, shown).await?,
    ))
}

/// Has it hear of other events besides scans.
pub(crate) async fn set_events(
    context: MemberContext,
    path: EndpointPath,
    form: Result<RawForm, RawFormRejection>,
) -> PageResult {
    let Endpoint { endpoint_id, .. } = find_endpoint(&context, path).await?;
    let RawForm(bytes) = form?;
    let chosen = form_urlencoded::parse(&bytes).filter(|(name, _)| name == "event");
    let states = chosen.map(|(_, state)| {
        let unknown = || PageError::Invalid(format!("Not done: there is no event {state:?}."));
        MailpieceEventState::from_name(&state).ok_or_else(unknown)
    });
    let states: Vec<MailpieceEventState> = states.collect::<Result<_, PageError>>()?;
    endpoint_manager(&context)
        .set_events(endpoint_id, &states)
        .await?;
    Ok(back_to_endpoint(
        endpoint_id,
        ActionNotice::EndpointEventsChanged,
    ))
}

/// Sends it nothing any more; what waits is cancelled.
pub(crate) async fn pause_endpoint(context: MemberContext, path: EndpointPath) -> PageResult {
    let Endpoint { endpoint_id, .. } = find_endpoint(&context, path).await?;
    endpoint_manager(&context).pause(endpoint_id).await?;
    Ok(back_to_endpoint(endpoint_id, ActionNotice::EndpointPaused))
}

/// Sends it scans from now on.
pub(crate) async fn resume_endpoint(context: MemberContext, path: EndpointPath) -> PageResult {
    let Endpoint { endpoint_id, .. } = find_endpoint(&context, path).await?;
    endpoint_manager(&context).resume(endpoint_id).await?;
    Ok(back_to_endpoint(endpoint_id, ActionNotice::EndpointResumed))
}

/// Deletes it.
pub(crate) async fn delete_endpoint(context: MemberContext, path: EndpointPath) -> PageResult {
    let Endpoint { endpoint_id, .. } = find_endpoint(&context, path).await?;
    endpoint_manager(&context).delete(endpoint_id).await?;
    Ok(redirect_with_notice(PART, ActionNotice::EndpointDeleted))
}

#[derive(Deserialize)]
pub(crate) struct SignForm {
    /// A fingerprint of how it was signed when the form was made.
    signing: Option<String>,
}

/// Changes whenever an endpoint gets another key.
fn signing_fingerprint(endpoint: &Endpoint) -> String {
    fingerprint_of(&(endpoint.is_signed, endpoint.earlier_secret_until))
}

/// Signs its deliveries with a new key. The answer shows the key, once; the same form sent again makes no other.
pub(crate) async fn sign_deliveries(
    context: MemberContext,
    path: EndpointPath,
    form: FormResult<SignForm>,
) -> PageResult {
    let Endpoint { endpoint_id, .. } = find_endpoint(&context, path).await?;
    let Form(SignForm { signing }) = form?;
    let earlier_for = TimeDelta::hours(context.config().dispatcher.earlier_secret_hours);
    let secret = SigningSecret::random();
    let is_as_seen = |endpoint: &Endpoint| {
        signing.is_none_or(|signing| signing == signing_fingerprint(endpoint))
    };
    endpoint_manager(&context)
        .sign(endpoint_id, &secret, earlier_for, is_as_seen)
        .await
        .map_err(|error| match error {
            EndpointError::Overtaken => PageError::Invalid(SIGNED_BEFORE.to_owned()),
            other => other.into(),
        })?;
    let shown = EndpointPageState {
        secret: Some(secret.reveal()),
        ..EndpointPageState::default()
    };
    let page = async {
        let endpoint = find_endpoint(&context, PagePath(endpoint_id)).await?;
        detail_page(&context, endpoint, shown).await
    };
    Ok(render_page(&page.await.map_err(PageError::after_commit)?))
}

/// What whoever sends the form of a key again is told.
const SIGNED_BEFORE: &str = "Nothing was changed: this form was sent before and its key was shown then, or somebody else has changed \
                             the signing since you opened the page. If you did not see it, reload the page and sign anew.";

/// Signs its deliveries no more.
pub(crate) async fn stop_signing(context: MemberContext, path: EndpointPath) -> PageResult {
    let Endpoint { endpoint_id, .. } = find_endpoint(&context, path).await?;
    endpoint_manager(&context).stop_signing(endpoint_id).await?;
    Ok(back_to_endpoint(endpoint_id, ActionNotice::SigningStopped))
}
