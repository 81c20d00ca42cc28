//! Laying cards out, where that keeps nobody waiting.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use audience::fold_name;
use contract::id::DesignId;
use contract::send::{Reason, Warning};
use design::{Document, Plan, Recipient, RefusalReason, Typesetter, WarningCode};
use futures_util::{StreamExt, TryStreamExt, stream};
use store::PieceContent;
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use super::return_address::Chosen;
use super::{Card, Refusal, Values};

/// Cards laid out in one go: between two of these, another request's get their turn.
const CHUNK: usize = 250;

/// Designs that are kept ready.
const PLANS_KEPT: usize = 64;

/// The threads that lay out cards, and the designs that they have made ready. Clones share them.
#[derive(Clone)]
pub(crate) struct Layouts {
    threads: usize,
    free_threads: Arc<Semaphore>,
    /// The design used last at the back.
    plans: Arc<Mutex<VecDeque<(DesignVersion, Arc<Plan>)>>>,
}

/// What a document is known by: it never changes.
pub(super) type DesignVersion = (DesignId, i32);

impl Default for Layouts {
    /// As many threads as the machine has processors.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads, free_threads: Arc::new(Semaphore::new(threads)), plans: Arc::default() }
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
    pub(super) version: DesignVersion,
    pub(super) document: Arc<Document>,
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
        let layouts = self.clone();
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let plan = layouts.plan(&task);
            let mut typesetter = Typesetter::new();
            subjects.into_iter().map(|subject| card(&plan, &mut typesetter, &task, subject)).collect()
        })
        .await
    }

    /// The design made ready; kept for the next request.
    fn plan(&self, task: &Task) -> Arc<Plan> {
        if let Some(plan) = self.known_plan(task.version) {
            return plan;
        }
        // Two threads may make it at the same time: it is the same twice.
        let plan = Arc::new(Plan::new(Document::clone(&task.document)));
        let mut plans = lock(&self.plans);
        if plans.len() >= PLANS_KEPT {
            plans.pop_front();
        }
        plans.push_back((task.version, plan.clone()));
        plan
    }

    fn known_plan(&self, version: DesignVersion) -> Option<Arc<Plan>> {
        let mut plans = lock(&self.plans);
        let at = plans.iter().position(|(known, _)| *known == version)?;
        let found = plans.remove(at)?;
        let plan = found.1.clone();
        plans.push_back(found);
        Some(plan)
    }
}

/// A panic while a lock was held cannot leave these half-changed.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

fn card(plan: &Plan, typesetter: &mut Typesetter, task: &Task, subject: Subject) -> Card {
    let reader = Reader { task, subject: &subject };
    let (refusal, warnings) = match plan.decide(typesetter, &reader) {
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
