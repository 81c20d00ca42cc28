//! What each recipient's card prints, decided before the campaign is locked: whether it can print at all, the fallbacks
//! that it prints, and all that the printer needs of it.

mod designs;
mod layout;
mod pictures;
mod return_address;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ::pictures::PictureFetchError;
use audience::ValueLookup;
use chrono::NaiveDate;
use contract::send::{NotMailedReason, RecipientWarning, ReturnAddressReason};
use model::id::TeamId;
use store::MailpieceContent;
use verification::VerificationError;

pub(crate) use self::designs::{DesignCache, ReadyDesign};
pub(crate) use self::layout::LayoutThreads;
pub(crate) use self::pictures::find_design_pictures;

use self::layout::LayoutSubject;
use self::pictures::PictureFiles;
use crate::MailerState;
use crate::decide::MailingCandidate;

/// A recipient's values of the fields that the design uses, by folded name; blank ones are absent.
pub(crate) type DesignValues = BTreeMap<String, String>;

/// A design as a request's cards are decided with it.
#[derive(Debug)]
pub(crate) struct MailpieceRules {
    pub(crate) design: Arc<ReadyDesign>,
    /// The design's own pictures that can be used, once they have been looked up.
    files: PictureFiles,
}

/// What a card prints, or why it cannot.
#[derive(Debug, Clone, Default)]
pub(crate) struct MailpieceDraft {
    pub(crate) refusal: Option<MailpieceRefusal>,
    pub(crate) warnings: Vec<RecipientWarning>,
    /// Why the fallback return address prints, when it does.
    pub(crate) return_address_reason: Option<ReturnAddressReason>,
    pub(crate) content: MailpieceContent,
}

/// Why a card cannot print.
#[derive(Debug, Clone)]
pub(crate) struct MailpieceRefusal {
    pub(crate) reason: NotMailedReason,
    /// A sentence for a person.
    pub(crate) detail: String,
}

/// Why cards could not be decided at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MailpieceDraftError {
    /// Return addresses could not be verified.
    #[error(transparent)]
    Verify(#[from] VerificationError),
    /// Pictures could not be looked up or kept.
    #[error(transparent)]
    Pictures(#[from] PictureFetchError),
    /// The layout panicked: a defect of ours.
    #[error("a layout failed: {0}")]
    Layout(#[from] tokio::task::JoinError),
}

/// What cards are decided with besides the recipients' values.
pub(crate) struct MailpieceContext<'a> {
    pub(crate) team_id: TeamId,
    pub(crate) rules: &'a MailpieceRules,
    /// The team's day.
    pub(crate) today: NaiveDate,
    /// Whether a card without a usable variable picture is not to be printed.
    pub(crate) requires_pictures: bool,
    /// The time that there is for pictures.
    pub(crate) time: Duration,
}

impl MailpieceRules {
    pub(crate) fn from_design(design: Arc<ReadyDesign>) -> Self {
        Self {
            design,
            files: PictureFiles::default(),
        }
    }

    /// What a card needs to know of a recipient.
    pub(crate) fn design_values(&self, recipient: &dyn ValueLookup) -> DesignValues {
        let value = |field: &String| {
            let value = recipient
                .value(field)
                .filter(|value| !value.trim().is_empty())?;
            Some((field.clone(), value.to_owned()))
        };
        self.design.fields.iter().filter_map(value).collect()
    }
}

impl MailpieceContext<'_> {
    /// The cards of these recipients, in their order.
    ///
    /// # Errors
    /// [`MailpieceDraftError`]; no recipient's fault is one.
    pub(crate) async fn draft_mailpieces(
        &self,
        mailer: &MailerState,
        people: Vec<DesignValues>,
    ) -> Result<Vec<MailpieceDraft>, MailpieceDraftError> {
        let count = people.len();
        if count > 1 && self.rules.design.fields.is_empty() {
            // Everybody's card is the same.
            let card = self
                .draft_varying_mailpieces(mailer, vec![DesignValues::new()])
                .await?
                .pop()
                .unwrap_or_default();
            return Ok(vec![card; count]);
        }
        if people.is_empty() {
            Ok(Vec::new())
        } else {
            self.draft_varying_mailpieces(mailer, people).await
        }
    }

    async fn draft_varying_mailpieces(
        &self,
        mailer: &MailerState,
        people: Vec<DesignValues>,
    ) -> Result<Vec<MailpieceDraft>, MailpieceDraftError> {
        let Self { team_id, rules, .. } = *self;
        let document = rules.design.plan.document();
        let (returns, brought) = tokio::try_join!(
            async {
                Ok(return_address::choose_return_addresses(
                    mailer,
                    (team_id, self.today),
                    document,
                    &people,
                )
                .await?)
            },
            async {
                let found = pictures::find_recipient_pictures(
                    mailer,
                    team_id,
                    &rules.design.pictures,
                    &people,
                    self.time,
                );
                Ok::<_, MailpieceDraftError>(found.await?)
            },
        )?;
        let mut files = brought.files;
        files.extend(
            rules
                .files
                .iter()
                .map(|(link, file)| (link.clone(), file.clone())),
        );
        let subjects = people.into_iter().zip(returns).map(|(values, chosen)| {
            let pictures = rules.design.pictures.used_files(&values, &files);
            LayoutSubject {
                values,
                pictures,
                chosen,
            }
        });
        let subjects = tokio::task::block_in_place(|| subjects.collect());
        let layout = layout::LayoutTask {
            design: rules.design.clone(),
            problems: Arc::new(brought.problems),
            requires_pictures: self.requires_pictures,
        };
        Ok(mailer.layouts.lay_out_all(&layout, subjects).await?)
    }
}

/// Decides the cards of the candidates that nothing is known against yet, and gives them what the design has against
/// them. `values` gives a candidate's values by position. Every candidate gets a card; of one that is refused it is
/// empty.
///
/// # Errors
/// [`MailpieceDraftError`].
pub(crate) async fn draft_for_candidates(
    mailer: &MailerState,
    deciding: &MailpieceContext<'_>,
    candidates: &mut [MailingCandidate],
    values: impl Fn(usize) -> DesignValues,
) -> Result<Vec<MailpieceDraft>, MailpieceDraftError> {
    let open: Vec<usize> = (0..candidates.len())
        .filter(|at| candidates[*at].refusal().is_none())
        .collect();
    let people = tokio::task::block_in_place(|| open.iter().map(|at| values(*at)).collect());
    let decided = deciding.draft_mailpieces(mailer, people).await?;
    let mut cards = vec![MailpieceDraft::default(); candidates.len()];
    for (at, card) in open.into_iter().zip(decided) {
        candidates[at].after_duplicates = card.refusal.as_ref().map(|refusal| refusal.reason);
        cards[at] = card;
    }
    Ok(cards)
}
