//! What a campaign prints: its steps, each with a design, a postage and a delay. Steps come and go by round trips; only saving
//! changes the campaign.

use askama::Template;
use axum::Form;
use axum::response::Response;
use campaigns::{CampaignField, CampaignNumbers, STEPS, check_numbers};
use contract::send::Postage;
use design::PrintableDesign;
use model::id::{CampaignId, DesignId};
use store::{DesignSummary, StepSettings, StoreError, StoredCampaignSettings};

use super::super::{CampaignPath, PART};
use super::input::{FieldProblems, InputReader, clamp_number};
use super::{SetupRefusal, SetupView, find_settings, saved_response};
use crate::extract::{FormResult, MemberContext, PagePath};
use crate::fingerprint::fingerprint_of;
use crate::frame::PageFrame;
use crate::page_error::{PageError, PageResult};
use crate::render::render_form;

/// The end of the page's address.
const PAGE: &str = "creative";

/// Designs that a step can choose from, by name. A design that is chosen already stands beside them.
const CHOICES: i64 = 500;

/// Days between a step that is added and the one before it.
const USUAL_DELAY_DAYS: i64 = 14;

/// A step as it is typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct StepInput {
    /// A design's id, or nothing.
    design: String,
    postage: String,
    delay: String,
}

/// What the form has.
#[derive(Default)]
struct CreativeForm {
    seen: String,
    pressed: String,
    steps: Vec<StepInput>,
}

/// What a step's choice looks like.
struct StepPicture {
    design_id: DesignId,
    version: i32,
    name: String,
    is_ai_draft: bool,
    /// Width and height in points of a screen; `None` when it cannot print.
    size: Option<(f64, f64)>,
}

struct StepLine {
    input: StepInput,
    picture: Option<StepPicture>,
}

#[derive(Template)]
#[template(path = "campaign_creative.html")]
struct CreativePage {
    frame: PageFrame,
    setup: SetupView,
    seen: String,
    lines: Vec<StepLine>,
    designs: Vec<DesignSummary>,
    refusal: SetupRefusal,
    has_room: bool,
}

impl CreativeForm {
    fn of(settings: &StoredCampaignSettings) -> Self {
        let steps = settings.steps.iter().map(|step| StepInput {
            design: step.design_id.map(|id| id.to_string()).unwrap_or_default(),
            postage: step.postage.as_str().to_owned(),
            delay: step.delay_days.to_string(),
        });
        Self {
            steps: steps.collect(),
            ..Self::default()
        }
    }

    /// The form as it is sent. Fields of more steps than a campaign has are left out.
    fn read(fields: &[(String, String)]) -> Self {
        let mut form = Self::default();
        for (name, value) in fields {
            match name.as_str() {
                "seen" => form.seen.clone_from(value),
                "do" => form.pressed.clone_from(value),
                _ => form.read_step_field(name, value),
            }
        }
        form
    }

    fn read_step_field(&mut self, name: &str, value: &str) {
        let mut parts = name.split('.');
        let (Some("step"), Some(step), Some(field), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return;
        };
        let step: Option<usize> = step.parse().ok();
        let Some(step) = step.filter(|step| (*step as i64) < *STEPS.end()) else {
            return;
        };
        if self.steps.len() <= step {
            self.steps.resize_with(step + 1, StepInput::default);
        }
        let input = &mut self.steps[step];
        let field = match field {
            "design" => &mut input.design,
            "postage" => &mut input.postage,
            "delay" => &mut input.delay,
            _ => return,
        };
        value.clone_into(field);
    }

    /// Adds or takes out a step, or only shows what is chosen, as the button says; whether it was such a button.
    fn edit_steps(&mut self) -> bool {
        let (verb, step) = self.pressed.split_once(':').unwrap_or((&self.pressed, ""));
        match verb {
            "add" => self.add_step(),
            "remove" => {
                let step = step.parse().unwrap_or(usize::MAX);
                if step < self.steps.len() {
                    self.steps.remove(step);
                }
                // The first step has no delay, whichever it was.
                if let Some(first) = self.steps.first_mut().filter(|_| step == 0) {
                    first.delay = "0".to_owned();
                }
            }
            "show" => {}
            _ => return false,
        }
        true
    }

    fn add_step(&mut self) {
        if self.steps.len() as i64 >= *STEPS.end() {
            return;
        }
        let last: Option<i64> = self.steps.last().and_then(|step| step.delay.parse().ok());
        let delay = match self.steps.last() {
            None => 0,
            Some(_) => last.unwrap_or(0).saturating_add(USUAL_DELAY_DAYS),
        };
        self.steps.push(StepInput {
            design: String::new(),
            postage: Postage::Standard.as_str().to_owned(),
            delay: delay.to_string(),
        });
    }

    fn read_steps(&self, reader: &mut InputReader) -> Vec<StepSettings> {
        let mut delays = Vec::new();
        let mut steps = Vec::new();
        for (at, input) in self.steps.iter().enumerate() {
            let days = reader.read_required_number(CampaignField::StepDelay(at), &input.delay);
            delays.push(days);
            let design_id = match input.design.as_str() {
                "" => None,
                typed => {
                    let id: Option<DesignId> = typed.parse().ok();
                    if id.is_none() {
                        reader.refuse(CampaignField::StepDesign(at), "Choose a design.");
                    }
                    id
                }
            };
            steps.push(StepSettings {
                design_id,
                postage: Postage::from_name(&input.postage).unwrap_or(Postage::Standard),
                delay_days: clamp_number(days),
            });
        }
        reader.problems.extend(check_numbers(&CampaignNumbers {
            delay_days: delays,
            is_draft: true,
            ..CampaignNumbers::default()
        }));
        steps
    }
}

/// What the form was made from.
fn fingerprint_of_steps(settings: &StoredCampaignSettings) -> String {
    let steps = settings.steps.iter();
    let steps: Vec<_> = steps
        .map(|step| {
            let design = step.design_id.map(|id| id.to_string());
            (design, step.postage.as_str(), step.delay_days)
        })
        .collect();
    fingerprint_of(&steps)
}

/// The page.
pub(crate) async fn show_creative(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    let settings = find_settings(&context, &campaign_id).await?;
    let mut form = CreativeForm::of(&settings);
    if form.steps.is_empty() {
        form.add_step();
    }
    form.seen = fingerprint_of_steps(&settings);
    creative_page(&context, &campaign_id, (&settings, form), None).await
}

async fn creative_page(
    context: &MemberContext,
    campaign_id: &CampaignId,
    (settings, form): (&StoredCampaignSettings, CreativeForm),
    refusal: Option<SetupRefusal>,
) -> Result<Response, PageError> {
    let (store, team_id) = (context.store(), context.team_id());
    let mut designs = store.list_designs(team_id, "", CHOICES).await?;
    let has_room = (form.steps.len() as i64) < *STEPS.end();
    let mut lines = Vec::new();
    for input in form.steps {
        let picture = find_picture(context, &input, &mut designs).await?;
        lines.push(StepLine { input, picture });
    }
    let is_refused = refusal.is_some();
    let page = CreativePage {
        frame: context.frame(PART),
        setup: SetupView::of(campaign_id, settings, PAGE),
        seen: form.seen,
        lines,
        designs,
        refusal: refusal.unwrap_or_default(),
        has_room,
    };
    Ok(render_form(&page, is_refused))
}

/// What a step's design looks like. One that is not among the choices is added to them.
async fn find_picture(
    context: &MemberContext,
    input: &StepInput,
    choices: &mut Vec<DesignSummary>,
) -> Result<Option<StepPicture>, PageError> {
    let Ok(design_id) = input.design.parse::<DesignId>() else {
        return Ok(None);
    };
    let found = context.store().find_design(context.team_id(), design_id);
    let design = match found.await {
        Ok(design) => design,
        Err(StoreError::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let summary = design.summary;
    let printable = PrintableDesign::parse(&design.document).ok();
    let picture = StepPicture {
        design_id,
        version: summary.version,
        name: summary.name.clone(),
        is_ai_draft: summary.is_ai_draft,
        size: printable.map(|design| {
            let area = design.product().trim_area();
            (area.width, area.height)
        }),
    };
    if !choices.iter().any(|choice| choice.design_id == design_id) {
        choices.push(summary);
    }
    Ok(Some(picture))
}

/// Adds a step, takes one out, or saves: whatever the button says.
pub(crate) async fn change_creative(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
    form: FormResult<Vec<(String, String)>>,
) -> PageResult {
    let settings = find_settings(&context, &campaign_id).await?;
    let Form(fields) = form?;
    let mut form = CreativeForm::read(&fields);
    if form.edit_steps() {
        return creative_page(&context, &campaign_id, (&settings, form), None).await;
    }
    let mut reader = InputReader::default();
    let steps = form.read_steps(&mut reader);
    let refusal = if reader.problems.is_empty() {
        let saved = campaigns::change_campaign(
            context.store(),
            context.actor(),
            context.team_id(),
            &campaign_id,
            |standing| fingerprint_of_steps(standing) == form.seen,
            |settings| settings.steps = steps,
            context.now(),
        );
        match saved.await {
            Ok(()) => return Ok(saved_response(&campaign_id, PAGE, &form.pressed)),
            Err(error) => SetupRefusal::of(error)?,
        }
    } else {
        SetupRefusal {
            problems: FieldProblems::of(&reader.problems),
            is_overtaken: false,
        }
    };
    // Whoever was overtaken has been told, and saves over what stands now.
    let settings = find_settings(&context, &campaign_id).await?;
    form.seen = fingerprint_of_steps(&settings);
    creative_page(&context, &campaign_id, (&settings, form), Some(refusal)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(fields: &[(&str, &str)]) -> CreativeForm {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        CreativeForm::read(&fields.iter().map(owned).collect::<Vec<_>>())
    }

    #[test]
    fn steps_are_added_and_taken_out_with_what_was_typed() {
        let mut typed = form(&[
            ("do", "add"),
            ("step.0.postage", "first_class"),
            ("step.0.delay", "0"),
            ("step.99.delay", "1"),
            ("step.x.delay", "1"),
        ]);
        assert!(typed.edit_steps());
        let delays = |form: &CreativeForm| {
            let delays = form.steps.iter().map(|step| step.delay.clone());
            delays.collect::<Vec<_>>()
        };
        assert_eq!(delays(&typed), ["0", "14"]);
        typed.pressed = "remove:0".to_owned();
        assert!(typed.edit_steps());
        assert_eq!(delays(&typed), ["0"]);
        typed.pressed = "remove:7".to_owned();
        assert!(typed.edit_steps() && typed.steps.len() == 1);
        typed.pressed = "save".to_owned();
        assert!(!typed.edit_steps());
    }

    #[test]
    fn no_more_steps_are_added_than_a_campaign_has() {
        let mut typed = form(&[("do", "add")]);
        for _ in 0..30 {
            typed.edit_steps();
        }
        assert_eq!(typed.steps.len(), 20);
    }
}
