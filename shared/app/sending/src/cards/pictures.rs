//! The pictures of cards: those of the design, and those that recipients bring.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::time::Duration;

use audience::column::may_be_cut;
use audience::fold_name;
use contract::send::SendError;
use design::{DesignElement, ElementContent, ImageElement, ImageSource, PrintableDesign, Side};
use model::id::TeamId;
use pictures::{PictureFetchError, ResolvedPicture};
use store::PictureUse;
use tokio::time::Instant;

use super::DesignValues;
use crate::MailerState;
use crate::rules::StepRules;

/// The pictures that a design prints.
#[derive(Debug, Default)]
pub(crate) struct DesignPictures {
    fixed: Vec<FixedPicture>,
    variable: Vec<VariablePicture>,
}

/// The same for everybody.
#[derive(Debug)]
struct FixedPicture {
    side: Side,
    element: String,
    link: String,
}

/// By recipient.
#[derive(Debug)]
struct VariablePicture {
    /// The folded name of the field with the link.
    field: String,
    default: Option<String>,
}

/// Files of pictures that can be used, by their links.
pub(crate) type PictureFiles = HashMap<String, String>;

impl DesignPictures {
    pub(crate) fn from_document(document: &PrintableDesign) -> Self {
        let mut pictures = Self::default();
        for side in Side::ALL {
            for DesignElement { id, content, .. } in &document.side(side).elements {
                let ElementContent::Image(ImageElement { source, .. }) = content else {
                    continue;
                };
                match source {
                    ImageSource::Fixed { link } => pictures.fixed.push(FixedPicture {
                        side,
                        element: id.clone(),
                        link: link.as_str().to_owned(),
                    }),
                    ImageSource::Variable { field, default } => {
                        pictures.variable.push(VariablePicture {
                            field: fold_name(field),
                            default: default.as_ref().map(|link| link.as_str().to_owned()),
                        })
                    }
                }
            }
        }
        pictures
    }

    /// The design's own links.
    fn own_links(&self) -> impl Iterator<Item = &str> {
        let defaults = self
            .variable
            .iter()
            .filter_map(|variable| variable.default.as_deref());
        self.fixed
            .iter()
            .map(|fixed| fixed.link.as_str())
            .chain(defaults)
    }

    /// The links that a recipient brings.
    fn recipient_links<'p>(&self, values: &'p DesignValues) -> impl Iterator<Item = &'p str> {
        self.variable
            .iter()
            .filter_map(|variable| field_link(values, &variable.field))
    }

    /// What a card keeps: of these files those that it prints, a default only where it stands in.
    pub(super) fn used_files(
        &self,
        values: &DesignValues,
        files: &PictureFiles,
    ) -> BTreeMap<String, String> {
        let fixed = self.fixed.iter().map(|fixed| fixed.link.as_str());
        let variable = self.variable.iter().filter_map(|variable| {
            let own = field_link(values, &variable.field).filter(|link| files.contains_key(*link));
            own.or(variable.default.as_deref())
        });
        let kept = |link: &str| files.get(link).map(|file| (link.to_owned(), file.clone()));
        fixed.chain(variable).filter_map(kept).collect()
    }
}

/// The link in a field, as it is there; none that may have been cut.
fn field_link<'p>(values: &'p DesignValues, field: &str) -> Option<&'p str> {
    values
        .get(field)
        .map(String::as_str)
        .filter(|link| !may_be_cut(link))
}

/// Looks up the pictures of these steps' designs, which are kept for good once they have been fetched.
///
/// # Errors
/// `design_cannot_render` when a fixed one cannot be used; `internal_error` when it is our fault. A default that cannot
/// be used is as good as none.
pub(crate) async fn find_design_pictures(
    mailer: &MailerState,
    team_id: TeamId,
    steps: &mut [StepRules<'_>],
) -> Result<(), SendError> {
    let until = Instant::now() + mailer.pictures.request_time();
    let links = steps
        .iter()
        .flat_map(|step| step.cards.design.pictures.own_links());
    let resolved = mailer
        .wait_without_slot(
            mailer
                .pictures
                .resolve_links(team_id, PictureUse::Design, links, until),
        )
        .await;
    let resolved = resolved.map_err(internal_error)?;
    for step in steps.iter() {
        for FixedPicture {
            side,
            element,
            link,
        } in &step.cards.design.pictures.fixed
        {
            if let Some(ResolvedPicture::Unusable(why)) = resolved.get(link.as_str()) {
                return Err(SendError::DesignCannotRender(format!(
                    "The design {:?} cannot print: On the {side}, item {element:?} cannot print: its picture cannot be used: {why}.",
                    step.design.name
                )));
            }
        }
    }
    let files = usable_files(resolved);
    for step in steps {
        let links = step.cards.design.pictures.own_links();
        let own = links
            .filter_map(|link| Some((link.to_owned(), files.get(link)?.clone())))
            .collect();
        step.cards.files = own;
    }
    Ok(())
}

/// What became of the pictures that recipients bring.
#[derive(Debug, Default)]
pub(super) struct RecipientPictures {
    pub(super) files: PictureFiles,
    /// Why the others cannot be used, by their links, as the end of a sentence.
    pub(super) problems: HashMap<String, String>,
}

/// Looks up the pictures that these recipients bring, in the time that there is for it.
pub(super) async fn find_recipient_pictures(
    mailer: &MailerState,
    team_id: TeamId,
    pictures: &DesignPictures,
    people: &[DesignValues],
    time: Duration,
) -> Result<RecipientPictures, PictureFetchError> {
    let links = people
        .iter()
        .flat_map(|values| pictures.recipient_links(values));
    let until = Instant::now() + time.min(mailer.pictures.request_time());
    let resolved = mailer
        .wait_without_slot(mailer.pictures.resolve_links(
            team_id,
            PictureUse::Recipient,
            links,
            until,
        ))
        .await?;
    let problems = resolved.iter().filter_map(|(link, picture)| match picture {
        ResolvedPicture::Unusable(why) => Some(((*link).to_owned(), why.clone())),
        ResolvedPicture::Kept(_) => None,
    });
    let problems = problems.collect();
    Ok(RecipientPictures {
        files: usable_files(resolved),
        problems,
    })
}

fn usable_files(resolved: HashMap<&str, ResolvedPicture>) -> PictureFiles {
    let kept = resolved
        .into_iter()
        .filter_map(|(link, picture)| match picture {
            ResolvedPicture::Kept(file) => Some((link.to_owned(), file.as_str().to_owned())),
            ResolvedPicture::Unusable(_) => None,
        });
    kept.collect()
}

fn internal_error(error: PictureFetchError) -> SendError {
    tracing::error!(error = &error as &dyn Error, "pictures cannot be looked up");
    SendError::InternalError
}
