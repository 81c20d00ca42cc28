//! Laying cards out, where that keeps nobody waiting.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use design::Document;
use store::PieceContent;
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use super::return_address::Chosen;
use super::{Card, Values};

/// Cards laid out in one go: between two of these, another request's get their turn.
const CHUNK: usize = 250;

/// The threads that lay out cards. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Layouts {
    threads: Arc<Semaphore>,
}

impl Default for Layouts {
    /// As many as the machine has processors.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads: Arc::new(Semaphore::new(threads)) }
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
    pub(super) document: Arc<Document>,
    /// Why pictures cannot be used, by their links.
    pub(super) problems: Arc<HashMap<String, String>>,
    pub(super) requires_pictures: bool,
}

impl Layouts {
    /// The cards of these subjects, in their order.
    ///
    /// # Errors
    /// [`JoinError`] when a layout panicked.
    pub(super) async fn cards(&self, task: &Task, subjects: Vec<Subject>) -> Result<Vec<Card>, JoinError> {
        let mut cards = Vec::with_capacity(subjects.len());
        let mut under_way = futures_util::stream::FuturesOrdered::new();
        let mut rest = subjects.into_iter();
        loop {
            let chunk: Vec<Subject> = rest.by_ref().take(CHUNK).collect();
            if chunk.is_empty() {
                break;
            }
            under_way.push_back(self.chunk(task.clone(), chunk));
        }
        while let Some(chunk) = futures_util::StreamExt::next(&mut under_way).await {
            cards.extend(chunk?);
        }
        Ok(cards)
    }

    async fn chunk(&self, task: Task, subjects: Vec<Subject>) -> Result<Vec<Card>, JoinError> {
        // Waiting in line is what gives requests their turns.
        let permit = self.threads.clone().acquire_owned().await.ok();
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            subjects.into_iter().map(|subject| card(&task, subject)).collect()
        })
        .await
    }
}

fn card(task: &Task, subject: Subject) -> Card {
    let _ = (&task.document, &task.problems, task.requires_pictures);
    let Subject { values, pictures, chosen } = subject;
    Card {
        refusal: None,
        warnings: Vec::new(),
        return_address_reason: chosen.reason,
        content: PieceContent { fields: values, return_address: chosen.lines, pictures },
    }
}
