//! The endpoints of a team, and adding one.

use askama::Template;
use axum::extract::RawForm;
use axum::extract::rejection::RawFormRejection;
use delivering::EndpointError;
use model::limits::ENDPOINTS_PER_TEAM;
use outbound::TargetPolicy;
use secret::SigningSecret;
use store::{Endpoint, StoreError};

use super::detail::{EndpointPageState, detail_page};
use super::scope::{CampaignChoice, ScopeForm, campaign_choices};
use super::{PART, endpoint_manager};
use crate::extract::MemberContext;
use crate::frame::PageFrame;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::{PageError, PageResult};
use crate::render::{render_page, render_refusal};

#[derive(Template)]
#[template(path = "endpoint_list.html")]
struct EndpointListPage {
    frame: PageFrame,
    endpoints: Vec<Endpoint>,
    may_make: bool,
    most: i64,
    form: ScopeForm,
    choices: Vec<CampaignChoice>,
    /// What is wrong with what was typed.
    problem: Option<String>,
}

/// The list.
pub(crate) async fn list_endpoints(context: MemberContext) -> PageResult {
    let page = list_page(&context, ScopeForm::default(), None).await?;
    Ok(render_page(&page))
}

async fn list_page(
    context: &MemberContext,
    form: ScopeForm,
    problem: Option<String>,
) -> Result<EndpointListPage, PageError> {
    let endpoints = context.store().list_endpoints(context.team_id()).await?;
    Ok(EndpointListPage {
        may_make: context.is_manager() && (endpoints.len() as i64) < ENDPOINTS_PER_TEAM,
        most: ENDPOINTS_PER_TEAM,
        choices: campaign_choices(context, &form.campaigns).await?,
        frame: context.frame(PART),
        endpoints,
        form,
        problem,
    })
}

/// Makes an endpoint. The answer shows the key that signs, if one was asked for: only this once.
pub(crate) async fn create_endpoint(
    context: MemberContext,
    form: Result<RawForm, RawFormRejection>,
) -> PageResult {
    let RawForm(bytes) = form?;
    let form = ScopeForm::parse(&bytes);
    let (endpoint, secret) = match add_endpoint(&context, &form).await {
        Ok(added) => added,
        Err(PageError::Invalid(problem)) => {
            let page = list_page(&context, form, Some(problem)).await?;
            return Ok(render_refusal(&page));
        }
        Err(failure) => return Err(failure),
    };
    let Some(secret) = secret else {
        let path = format!("{PART}/{}", endpoint.endpoint_id);
        return Ok(redirect_with_notice(&path, ActionNotice::EndpointAdded));
    };
    let context = context.with_notice(ActionNotice::EndpointAdded);
    let shown = EndpointPageState {
        secret: Some(secret.reveal()),
        ..EndpointPageState::default()
    };
    let page = detail_page(&context, endpoint, shown).await;
    Ok(render_page(&page.map_err(PageError::after_commit)?))
}

async fn add_endpoint(
    context: &MemberContext,
    form: &ScopeForm,
) -> Result<(Endpoint, Option<SigningSecret>), PageError> {
    let scope = form.chosen_campaigns().map_err(PageError::Invalid)?;
    let policy = TargetPolicy::new(&context.config().outbound.allowed_networks);
    let secret = form.is_signed.then(SigningSecret::random);
    let added = endpoint_manager(context)
        .create(&policy, &form.url, scope.as_deref(), secret)
        .await
        .map_err(not_added)?;
    let (store, team_id) = (context.store(), context.team_id());
    let endpoint = store.find_endpoint(team_id, added.endpoint_id).await;
    let endpoint = endpoint.map_err(|error| PageError::from(error).after_commit())?;
    Ok((endpoint, added.secret))
}

/// Why an endpoint is not added, in words where the person can do something about it.
fn not_added(error: EndpointError) -> PageError {
    match error {
        EndpointError::Url(_) | EndpointError::Host(_) | EndpointError::Taken => {
            PageError::Invalid(format!("Not added: {error}."))
        }
        EndpointError::Store(StoreError::Limit(reason)) => {
            PageError::Invalid(format!("Not added: {reason}."))
        }
        other => other.into(),
    }
}
