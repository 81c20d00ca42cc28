//! What each recipient's card prints, decided before the campaign is locked: whether it can print at all, the fallbacks
//! that it prints, and all that the printer needs of it.

mod designs;
mod layout;
mod pictures;
mod return_address;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ::pictures::PicturesError;
use audience::Lookup;
use chrono::NaiveDate;
use contract::id::TeamId;
use contract::send::{Reason, ReturnAddressReason, Warning};
use store::PieceContent;
use verification::VerifyError;

pub(crate) use self::designs::{Designs, ReadyDesign};
pub(crate) use self::layout::Layouts;
pub(crate) use self::pictures::find_design_pictures;

use self::layout::Subject;
use self::pictures::Files;
use crate::Mailer;
use crate::decide::Candidate;

/// A recipient's values of the fields that the design uses, by folded name; blank ones are absent.
pub(crate) type Values = BTreeMap<String, String>;

/// A design as a request's cards are decided with it.
#[derive(Debug)]
pub(crate) struct CardRules {
    pub(crate) design: Arc<ReadyDesign>,
    /// The design's own pictures that can be used, once they have been looked up.
    files: Files,
}

/// What a card prints, or why it cannot.
#[derive(Debug, Clone, Default)]
pub(crate) struct Card {
    pub(crate) refusal: Option<Refusal>,
    pub(crate) warnings: Vec<Warning>,
    /// Why the fallback return address prints, when it does.
    pub(crate) return_address_reason: Option<ReturnAddressReason>,
    pub(crate) content: PieceContent,
}

/// Why a card cannot print.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) reason: Reason,
    /// A sentence for a person.
    pub(crate) detail: String,
}

/// Why cards could not be decided at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CardsError {
    /// Return addresses could not be verified.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// Pictures could not be looked up or kept.
    #[error(transparent)]
    Pictures(#[from] PicturesError),
    /// The layout panicked: a defect of ours.
    #[error("a layout failed: {0}")]
    Layout(#[from] tokio::task::JoinError),
}

/// What cards are decided with besides the recipients' values.
pub(crate) struct Deciding<'a> {
    pub(crate) team_id: TeamId,
    pub(crate) rules: &'a CardRules,
    /// The team's day.
    pub(crate) today: NaiveDate,
    /// Whether a card without a usable variable picture is not to be printed.
    pub(crate) requires_pictures: bool,
    /// The time that there is for pictures.
    pub(crate) time: Duration,
}

impl CardRules {
    pub(crate) fn of(design: Arc<ReadyDesign>) -> Self {
        Self { design, files: Files::default() }
    }

    /// What a card needs to know of a recipient.
    pub(crate) fn values(&self, recipient: &dyn Lookup) -> Values {
        let value = |field: &String| {
            let value = recipient.value(field).filter(|value| !value.trim().is_empty())?;
            Some((field.clone(), value.to_owned()))
        };
        self.design.fields.iter().filter_map(value).collect()
    }
}

impl Deciding<'_> {
    /// The cards of these recipients, in their order.
    ///
    /// # Errors
    /// [`CardsError`]; no recipient's fault is one.
    pub(crate) async fn cards(&self, mailer: &Mailer, people: Vec<Values>) -> Result<Vec<Card>, CardsError> {
        let count = people.len();
        if count > 1 && self.rules.design.fields.is_empty() {
            // Everybody's card is the same.
            let card = self.different_cards(mailer, vec![Values::new()]).await?.pop().unwrap_or_default();
            return Ok(vec![card; count]);
        }
        if people.is_empty() { Ok(Vec::new()) } else { self.different_cards(mailer, people).await }
    }

    async fn different_cards(&self, mailer: &Mailer, people: Vec<Values>) -> Result<Vec<Card>, CardsError> {
        let Self { team_id, rules, .. } = *self;
        let document = rules.design.plan.document();
        let (returns, brought) = tokio::try_join!(
            async { Ok(return_address::choose(mailer, (team_id, self.today), document, &people).await?) },
            async {
                let found =
                    pictures::recipient_pictures(mailer, team_id, &rules.design.pictures, &people, self.time);
                Ok::<_, CardsError>(found.await?)
            },
        )?;
        let mut files = brought.files;
        files.extend(rules.files.iter().map(|(link, file)| (link.clone(), file.clone())));
        let subjects = people.into_iter().zip(returns).map(|(values, chosen)| {
            let pictures = rules.design.pictures.used(&values, &files);
            Subject { values, pictures, chosen }
        });
        let subjects = tokio::task::block_in_place(|| subjects.collect());
        let layout = layout::Task {
            design: rules.design.clone(),
            problems: Arc::new(brought.problems),
            requires_pictures: self.requires_pictures,
        };
        Ok(mailer.layouts.cards(&layout, subjects).await?)
    }
}

/// Decides the cards of the candidates that nothing is known against yet, and gives them what the design has against
/// them. `values` gives a candidate's values by position. Every candidate gets a card; of one that is refused it is
/// empty.
///
/// # Errors
/// [`CardsError`].
pub(crate) async fn decide_cards(
    mailer: &Mailer,
    deciding: &Deciding<'_>,
    candidates: &mut [Candidate],
    values: impl Fn(usize) -> Values,
) -> Result<Vec<Card>, CardsError> {
    let open: Vec<usize> = (0..candidates.len()).filter(|at| candidates[*at].refusal().is_none()).collect();
    let people = tokio::task::block_in_place(|| open.iter().map(|at| values(*at)).collect());
    let decided = deciding.cards(mailer, people).await?;
    let mut cards = vec![Card::default(); candidates.len()];
    for (at, card) in open.into_iter().zip(decided) {
        candidates[at].after_duplicates = card.refusal.as_ref().map(|refusal| refusal.reason);
        cards[at] = card;
    }
    Ok(cards)
}
