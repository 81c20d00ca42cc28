//! Laying cards out, where that keeps nobody waiting.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use audience::fold_name;
use contract::send::{NotMailedReason, RecipientWarning};
use design::{LayoutErrorReason, LayoutWarningCode, RecipientValues, Typesetter};
use futures_util::{StreamExt, TryStreamExt, stream};
use store::MailpieceContent;
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use super::return_address::ChosenReturnAddress;
use super::{DesignValues, MailpieceDraft, MailpieceRefusal, ReadyDesign};

/// Cards laid out in one go: between two of these, another request's get their turn.
const CHUNK: usize = 250;

/// The threads that lay out cards. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct LayoutThreads {
    threads: usize,
    free_threads: Arc<Semaphore>,
}

impl Default for LayoutThreads {
    /// As many threads as the machine has processors.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            threads,
            free_threads: Arc::new(Semaphore::new(threads)),
        }
    }
}

/// Whose card is laid out.
pub(super) struct LayoutSubject {
    pub(super) values: DesignValues,
    /// The files of the pictures that it prints, by link.
    pub(super) pictures: BTreeMap<String, String>,
    pub(super) chosen: ChosenReturnAddress,
}

/// What all cards of a request share.
#[derive(Clone)]
pub(super) struct LayoutTask {
    pub(super) design: Arc<ReadyDesign>,
    /// Why pictures cannot be used, by their links, as the end of a sentence.
    pub(super) problems: Arc<HashMap<String, String>>,
    pub(super) requires_pictures: bool,
}

impl LayoutThreads {
    /// The cards of these subjects, in their order.
    ///
    /// # Errors
    /// [`JoinError`] when a layout panicked.
    pub(super) async fn lay_out_all(
        &self,
        task: &LayoutTask,
        subjects: Vec<LayoutSubject>,
    ) -> Result<Vec<MailpieceDraft>, JoinError> {
        let (count, mut rest) = (subjects.len(), subjects.into_iter());
        let chunks = std::iter::from_fn(|| {
            let chunk: Vec<LayoutSubject> = rest.by_ref().take(CHUNK).collect();
            (!chunk.is_empty()).then_some(chunk)
        });
        // No more in line than could run: whoever comes now waits for these and not for all.
        let mut laid_out = stream::iter(chunks)
            .map(|chunk| self.lay_out_chunk(task.clone(), chunk))
            .buffered(self.threads);
        let mut cards = Vec::with_capacity(count);
        while let Some(chunk) = laid_out.try_next().await? {
            cards.extend(chunk);
        }
        Ok(cards)
    }

    async fn lay_out_chunk(
        &self,
        task: LayoutTask,
        subjects: Vec<LayoutSubject>,
    ) -> Result<Vec<MailpieceDraft>, JoinError> {
        // Those who wait are served in their order: that is what gives each request its turns.
        let permit = self.free_threads.clone().acquire_owned().await.ok();
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut typesetter = Typesetter::new();
            subjects
                .into_iter()
                .map(|subject| lay_out_one(&mut typesetter, &task, subject))
                .collect()
        })
        .await
    }
}

/// A subject as the layout asks for it.
struct SubjectReader<'a> {
    task: &'a LayoutTask,
    subject: &'a LayoutSubject,
}

impl RecipientValues for SubjectReader<'_> {
    fn value(&self, field: &str) -> Option<&str> {
        self.subject
            .values
            .get(&fold_name(field))
            .map(String::as_str)
    }

    fn has_picture(&self, link: &str) -> bool {
        self.subject.pictures.contains_key(link)
    }

    fn requires_pictures(&self) -> bool {
        self.task.requires_pictures
    }
}

impl SubjectReader<'_> {
    /// A sentence about a picture, with why the recipient's own cannot be used when that is known.
    fn explain_missing_picture(&self, field: &str, detail: String) -> String {
        let cause = self
            .value(field)
            .and_then(|link| self.task.problems.get(link));
        match cause {
            Some(cause) => format!("{detail} It cannot be used because {cause}."),
            None => detail,
        }
    }
}

fn lay_out_one(
    typesetter: &mut Typesetter,
    task: &LayoutTask,
    subject: LayoutSubject,
) -> MailpieceDraft {
    let reader = SubjectReader {
        task,
        subject: &subject,
    };
    let (refusal, warnings) = match task.design.plan.check_layout(typesetter, &reader) {
        Ok(warnings) => (
            None,
            warnings
                .into_iter()
                .map(|warning| convert_warning(&reader, warning))
                .collect(),
        ),
        Err(refusal) => (Some(convert_refusal(&reader, refusal)), Vec::new()),
    };
    let LayoutSubject {
        values,
        pictures,
        chosen,
    } = subject;
    let content = MailpieceContent {
        fields: values,
        return_address: chosen.lines,
        pictures,
    };
    MailpieceDraft {
        refusal,
        warnings,
        return_address_reason: chosen.reason,
        content,
    }
}

fn convert_warning(reader: &SubjectReader<'_>, warning: design::LayoutWarning) -> RecipientWarning {
    let design::LayoutWarning {
        code,
        field,
        detail,
    } = warning;
    let detail = match code {
        LayoutWarningCode::VariableImageFallback | LayoutWarningCode::VariableImageBlank => {
            reader.explain_missing_picture(&field, detail)
        }
        _ => detail,
    };
    RecipientWarning {
        code: code.as_str().to_owned(),
        field,
        detail,
    }
}

fn convert_refusal(reader: &SubjectReader<'_>, refusal: design::LayoutError) -> MailpieceRefusal {
    let design::LayoutError {
        reason,
        field,
        detail,
    } = refusal;
    match reason {
        LayoutErrorReason::UnsupportedCharacters => MailpieceRefusal {
            reason: NotMailedReason::UnsupportedCharacters,
            detail,
        },
        LayoutErrorReason::TextOverflow => MailpieceRefusal {
            reason: NotMailedReason::TextOverflow,
            detail,
        },
        LayoutErrorReason::VariableImageMissing => MailpieceRefusal {
            reason: NotMailedReason::VariableImageMissing,
            detail: reader.explain_missing_picture(&field, detail),
        },
    }
}
