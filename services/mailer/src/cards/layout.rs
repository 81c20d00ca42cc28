//! Laying cards out, where that keeps nobody waiting.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use audience::fold_name;
use contract::send::{Reason, Warning};
use design::{Recipient, RefusalReason, Typesetter, WarningCode};
use futures_util::{StreamExt, TryStreamExt, stream};
use store::PieceContent;
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use super::return_address::Chosen;
use super::{Card, ReadyDesign, Refusal, Values};

/// Cards laid out in one go: between two of these, another request's get their turn.
const CHUNK: usize = 250;

/// The threads that lay out cards. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Layouts {
    threads: usize,
    free_threads: Arc<Semaphore>,
}

impl Default for Layouts {
    /// As many threads as the machine has processors.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads, free_threads: Arc::new(Semaphore::new(threads)) }
    }
}

/// Whose card is laid out.
pub(super) struct Subject {
    pub(super) values: Values,
    /// The files of the pictures that it prints, by link.
    pub(super) pictures: BTreeMap<String, String>,
    pub(super) chosen: Chosen,
}

/// What all cards of a request share.
#[derive(Clone)]
pub(super) struct Task {
    pub(super) design: Arc<ReadyDesign>,
    /// Why pictures cannot be used, by their links, as the end of a sentence.
    pub(super) problems: Arc<HashMap<String, String>>,
    pub(super) requires_pictures: bool,
}

impl Layouts {
    /// The cards of these subjects, in their order.
    ///
    /// # Errors
    /// [`JoinError`] when a layout panicked.
    pub(super) async fn cards(&self, task: &Task, subjects: Vec<Subject>) -> Result<Vec<Card>, JoinError> {
        let (count, mut rest) = (subjects.len(), subjects.into_iter());
        let chunks = std::iter::from_fn(|| {
            let chunk: Vec<Subject> = rest.by_ref().take(CHUNK).collect();
            (!chunk.is_empty()).then_some(chunk)
        });
        // No more in line than could run: whoever comes now waits for these and not for all.
        let mut laid_out =
            stream::iter(chunks).map(|chunk| self.chunk(task.clone(), chunk)).buffered(self.threads);
        let mut cards = Vec::with_capacity(count);
        while let Some(chunk) = laid_out.try_next().await? {
            cards.extend(chunk);
        }
        Ok(cards)
    }

    async fn chunk(&self, task: Task, subjects: Vec<Subject>) -> Result<Vec<Card>, JoinError> {
        // Those who wait are served in their order: that is what gives each request its turns.
        let permit = self.free_threads.clone().acquire_owned().await.ok();
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut typesetter = Typesetter::new();
            subjects.into_iter().map(|subject| card(&mut typesetter, &task, subject)).collect()
        })
        .await
    }
}

/// A subject as the layout asks for it.
struct Reader<'a> {
    task: &'a Task,
    subject: &'a Subject,
}

impl Recipient for Reader<'_> {
    fn value(&self, field: &str) -> Option<&str> {
        self.subject.values.get(&fold_name(field)).map(String::as_str)
    }

    fn has_picture(&self, link: &str) -> bool {
        self.subject.pictures.contains_key(link)
    }

    fn requires_pictures(&self) -> bool {
        self.task.requires_pictures
    }
}

impl Reader<'_> {
    /// A sentence about a picture, with why the recipient's own cannot be used when that is known.
    fn with_cause(&self, field: &str, detail: String) -> String {
        let cause = self.value(field).and_then(|link| self.task.problems.get(link));
        match cause {
            Some(cause) => format!("{detail} It cannot be used because {cause}."),
            None => detail,
        }
    }
}

fn card(typesetter: &mut Typesetter, task: &Task, subject: Subject) -> Card {
    let reader = Reader { task, subject: &subject };
    let (refusal, warnings) = match task.design.plan.decide(typesetter, &reader) {
        Ok(warnings) => (None, warnings.into_iter().map(|warning| told(&reader, warning)).collect()),
        Err(refusal) => (Some(refused(&reader, refusal)), Vec::new()),
    };
    let Subject { values, pictures, chosen } = subject;
    let content = PieceContent { fields: values, return_address: chosen.lines, pictures };
    Card { refusal, warnings, return_address_reason: chosen.reason, content }
}

fn told(reader: &Reader<'_>, warning: design::Warning) -> Warning {
    let design::Warning { code, field, detail } = warning;
    let detail = match code {
        WarningCode::VariableImageFallback | WarningCode::VariableImageBlank => {
            reader.with_cause(&field, detail)
        }
        _ => detail,
    };
    Warning { code: code.as_str().to_owned(), field, detail }
}

fn refused(reader: &Reader<'_>, refusal: design::Refusal) -> Refusal {
    let design::Refusal { reason, field, detail } = refusal;
    match reason {
        RefusalReason::UnsupportedCharacters => Refusal { reason: Reason::UnsupportedCharacters, detail },
        RefusalReason::TextOverflow => Refusal { reason: Reason::TextOverflow, detail },
        RefusalReason::VariableImageMissing => {
            Refusal { reason: Reason::VariableImageMissing, detail: reader.with_cause(&field, detail) }
        }
    }
}
