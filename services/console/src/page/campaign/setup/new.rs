//! The first page of a campaign: its name and whom it mails. A draft comes of it.

use std::str::FromStr;

use askama::Template;
use axum::Form;
use axum::response::{IntoResponse, Redirect, Response};
use campaigns::{CampaignField, ChangeCampaignError};
use model::name::DisplayName;
use serde::Deserialize;

use super::super::PART;
use super::input::{FieldProblems, InputReader};
use super::{SetupRefusal, setup_address};
use crate::extract::{FormResult, MemberContext};
use crate::frame::PageFrame;
use crate::page_error::{PageResult, limit_problem};
use crate::render::{render_page, render_refusal};

#[derive(Default, Deserialize)]
pub(crate) struct NewCampaignForm {
    #[serde(default)]
    name: String,
    #[serde(default)]
    kind: String,
}

#[derive(Template)]
#[template(path = "campaign_new.html")]
struct NewCampaignPage {
    frame: PageFrame,
    form: NewCampaignForm,
    problems: FieldProblems,
    /// Why none can be made at all.
    limit: Option<String>,
}

/// The page.
pub(crate) async fn show_new_campaign(context: MemberContext) -> Response {
    render_page(&NewCampaignPage {
        frame: context.frame(PART),
        form: NewCampaignForm::default(),
        problems: FieldProblems::default(),
        limit: None,
    })
}

/// Makes a draft and leads on to its audience.
pub(crate) async fn create_campaign(
    context: MemberContext,
    form: FormResult<NewCampaignForm>,
) -> PageResult {
    let Form(form) = form?;
    let (mut problems, mut limit) = (FieldProblems::default(), None);
    match DisplayName::from_str(&form.name) {
        Err(why) => {
            let mut reader = InputReader::default();
            reader.refuse(CampaignField::Name, &format!("The name {why}."));
            problems = FieldProblems::of(&reader.problems);
        }
        Ok(name) => {
            let neighborhood =
                (form.kind == "neighborhood").then_some(campaigns::USUAL_NEIGHBORHOOD);
            let (store, now) = (context.store(), context.now());
            let new = (&name, neighborhood);
            let made =
                campaigns::create_campaign(store, context.actor(), context.team_id(), new, now);
            match made.await {
                Ok(campaign_id) => {
                    let next = setup_address(&campaign_id, "audience");
                    return Ok(Redirect::to(&next).into_response());
                }
                Err(ChangeCampaignError::Save(campaigns::SaveCampaignError::Store(error))) => {
                    limit = Some(limit_problem("No campaign was made", error)?);
                }
                Err(error) => problems = SetupRefusal::of(error)?.problems,
            }
        }
    }
    Ok(render_refusal(&NewCampaignPage {
        frame: context.frame(PART),
        form,
        problems,
        limit,
    }))
}
