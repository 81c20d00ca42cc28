//! Whom a campaign mails.

use std::str::FromStr;

use address::VerificationStrictness;
use askama::Template;
use axum::Form;
use campaigns::{CampaignField, CampaignNumbers, ConditionSentence, check_numbers};
use model::id::CampaignId;
use model::name::DisplayName;
use serde::Deserialize;
use store::{AudienceSource, NeighborhoodSettings, StoredCampaignSettings};

use super::super::{CampaignPath, PART};
use super::input::{FieldProblems, InputReader, clamp_number};
use super::{SetupRefusal, SetupView, find_settings, saved_response};
use crate::extract::{FormResult, MemberContext, PagePath};
use crate::fingerprint::fingerprint_of;
use crate::frame::PageFrame;
use crate::page_error::PageResult;
use crate::render::render_form;

/// The end of the page's address.
const PAGE: &str = "audience";

/// What the form has, as it is typed.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct AudienceForm {
    seen: String,
    #[serde(rename = "do")]
    pressed: String,
    name: String,
    source: String,
    kind: String,
    radius: String,
    homes: String,
    strictness: String,
    resend_protection: String,
    cancels_unwanted: Option<String>,
}

#[derive(Template)]
#[template(path = "campaign_audience.html")]
struct AudiencePage {
    frame: PageFrame,
    setup: SetupView,
    form: AudienceForm,
    refusal: SetupRefusal,
    conditions: Vec<ConditionSentence>,
    has_area: bool,
}

impl AudienceForm {
    fn of(settings: &StoredCampaignSettings) -> Self {
        let neighborhood = settings.neighborhood;
        let shown = neighborhood.unwrap_or(campaigns::USUAL_NEIGHBORHOOD);
        let kind = neighborhood.map_or("audience", |_| "neighborhood");
        let days = settings.resend_protection_days;
        let strictness = settings.strictness;
        Self {
            seen: fingerprint_of_audience(settings),
            pressed: String::new(),
            name: settings.name.clone(),
            source: settings.audience.as_str().to_owned(),
            kind: kind.to_owned(),
            radius: shown.radius_metres.to_string(),
            homes: shown.homes_per_center.to_string(),
            strictness: strictness
                .map_or("", |strictness| strictness.as_str())
                .to_owned(),
            resend_protection: days.map(|days| days.to_string()).unwrap_or_default(),
            cancels_unwanted: settings
                .cancellation
                .cancels_unwanted
                .then(|| "on".to_owned()),
        }
    }

    fn is_neighborhood(&self) -> bool {
        self.kind == "neighborhood"
    }
}

/// What the form was made from.
fn fingerprint_of_audience(settings: &StoredCampaignSettings) -> String {
    let neighborhood = settings
        .neighborhood
        .map(|settings| (settings.radius_metres, settings.homes_per_center));
    fingerprint_of(&(
        &settings.name,
        settings.audience.as_str(),
        neighborhood,
        settings.strictness.map(VerificationStrictness::as_str),
        settings.resend_protection_days,
        settings.cancellation.cancels_unwanted,
    ))
}

/// What was typed, read.
struct AudienceInput {
    name: Option<DisplayName>,
    neighborhood: Option<NeighborhoodSettings>,
    resend_protection_days: Option<i32>,
}

fn read_audience(form: &AudienceForm, reader: &mut InputReader) -> AudienceInput {
    let name = match DisplayName::from_str(&form.name) {
        Ok(name) => Some(name),
        Err(why) => {
            reader.refuse(CampaignField::Name, &format!("The name {why}."));
            None
        }
    };
    let mut numbers = CampaignNumbers {
        is_draft: true,
        ..CampaignNumbers::default()
    };
    if form.is_neighborhood() {
        numbers.radius_metres =
            Some(reader.read_required_number(CampaignField::Radius, &form.radius));
        numbers.homes_per_center =
            Some(reader.read_required_number(CampaignField::Homes, &form.homes));
    }
    let days = reader.read_number(CampaignField::ResendProtection, &form.resend_protection);
    numbers.resend_protection_days = days;
    reader.problems.extend(check_numbers(&numbers));
    let neighborhood = numbers.radius_metres.zip(numbers.homes_per_center);
    AudienceInput {
        name,
        neighborhood: neighborhood.map(|(radius, homes)| NeighborhoodSettings {
            radius_metres: clamp_number(radius),
            homes_per_center: clamp_number(homes),
        }),
        resend_protection_days: days.map(clamp_number),
    }
}

/// The page.
pub(crate) async fn show_audience(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    let settings = find_settings(&context, &campaign_id).await?;
    let form = AudienceForm::of(&settings);
    audience_page(&context, &campaign_id, form, None).await
}

async fn audience_page(
    context: &MemberContext,
    campaign_id: &CampaignId,
    form: AudienceForm,
    refusal: Option<SetupRefusal>,
) -> PageResult {
    let settings = find_settings(context, campaign_id).await?;
    let is_refused = refusal.is_some();
    let conditions = settings.conditions.as_ref();
    let page = AudiencePage {
        frame: context.frame(PART),
        setup: SetupView::of(campaign_id, &settings, PAGE),
        // Whoever was overtaken has been told, and saves over what stands now.
        form: AudienceForm {
            seen: fingerprint_of_audience(&settings),
            ..form
        },
        refusal: refusal.unwrap_or_default(),
        conditions: conditions
            .map(ConditionSentence::from_document)
            .unwrap_or_default(),
        has_area: settings.area.is_some(),
    };
    Ok(render_form(&page, is_refused))
}

/// Saves the form.
pub(crate) async fn save_audience(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
    form: FormResult<AudienceForm>,
) -> PageResult {
    find_settings(&context, &campaign_id).await?;
    let Form(form) = form?;
    let mut reader = InputReader::default();
    let input = read_audience(&form, &mut reader);
    let refusal = match input.name.filter(|_| reader.problems.is_empty()) {
        None => SetupRefusal {
            problems: FieldProblems::of(&reader.problems),
            is_overtaken: false,
        },
        Some(name) => {
            let saved = campaigns::change_campaign(
                context.store(),
                context.actor(),
                context.team_id(),
                &campaign_id,
                |standing| fingerprint_of_audience(standing) == form.seen,
                |settings| {
                    settings.name = name.as_str().to_owned();
                    settings.audience = match form.source.as_str() {
                        "list" => AudienceSource::List,
                        _ => AudienceSource::Api,
                    };
                    settings.neighborhood = input.neighborhood;
                    settings.strictness = VerificationStrictness::from_name(&form.strictness);
                    settings.resend_protection_days = input.resend_protection_days;
                    settings.cancellation.cancels_unwanted = form.cancels_unwanted.is_some();
                },
                context.now(),
            );
            match saved.await {
                Ok(()) => return Ok(saved_response(&campaign_id, PAGE, &form.pressed)),
                Err(error) => SetupRefusal::of(error)?,
            }
        }
    };
    audience_page(&context, &campaign_id, form, Some(refusal)).await
}
