//! Designs made ready for many cards.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use audience::fold_name;
use design::{DesignError, LayoutPlan, PrintableDesign};
use model::id::DesignId;
use store::StepDesign;

use super::pictures::DesignPictures;
use crate::fields::is_always_sent;
use crate::links::QrLinks;

/// Designs that are kept ready in one process.
const DESIGNS_KEPT: usize = 128;

/// The designs that sends have used lately. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct DesignCache {
    /// The one used last at the back.
    kept: Arc<Mutex<CachedDesigns>>,
}

/// What a document is known by: a version never changes.
type DesignVersionKey = (DesignId, i32);

type CachedDesigns = VecDeque<(DesignVersionKey, Arc<ReadyDesign>)>;

/// A design with all that is the same for every card.
#[derive(Debug)]
pub(crate) struct ReadyDesign {
    pub(super) plan: LayoutPlan,
    /// The folded names of its fields.
    pub(super) fields: Vec<String>,
    pub(super) pictures: DesignPictures,
    pub(crate) links: QrLinks,
}

impl DesignCache {
    /// Makes a design ready, unless it is.
    ///
    /// # Errors
    /// [`DesignError`] when it cannot print.
    pub(crate) fn get_or_prepare(
        &self,
        design: &StepDesign,
    ) -> Result<Arc<ReadyDesign>, DesignError> {
        let version = (design.design_id, design.version);
        if let Some(ready) = self.get_cached(version) {
            return Ok(ready);
        }
        // Two requests may make it at the same time: it is the same twice.
        let document = tokio::task::block_in_place(|| PrintableDesign::parse(&design.document))?;
        let ready = Arc::new(tokio::task::block_in_place(|| {
            ReadyDesign::from_document(document)
        }));
        let mut kept = runtime::task::lock_mutex(&self.kept);
        if kept.len() >= DESIGNS_KEPT {
            kept.pop_front();
        }
        kept.push_back((version, ready.clone()));
        Ok(ready)
    }

    fn get_cached(&self, version: DesignVersionKey) -> Option<Arc<ReadyDesign>> {
        let mut kept = runtime::task::lock_mutex(&self.kept);
        let at = kept.iter().position(|(known, _)| *known == version)?;
        let found = kept.remove(at)?;
        let ready = found.1.clone();
        kept.push_back(found);
        Some(ready)
    }
}

impl ReadyDesign {
    fn from_document(document: PrintableDesign) -> Self {
        Self {
            fields: document.field_names().into_iter().map(fold_name).collect(),
            pictures: DesignPictures::from_document(&document),
            links: QrLinks::from_document(&document),
            plan: LayoutPlan::new(document),
        }
    }

    /// What it is printed as.
    pub(crate) fn product_name(&self) -> &'static str {
        self.plan.document().product().as_str()
    }

    /// Whether a field is used that a send does not bring itself, so that stored values are worth reading.
    pub(crate) fn uses_stored_values(&self) -> bool {
        self.fields.iter().any(|field| !is_always_sent(field))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn build_step_design(version: i32, document: Value) -> StepDesign {
        let design_id = DesignId(Default::default());
        StepDesign {
            design_id,
            version,
            name: "Card".to_owned(),
            is_ai_draft: false,
            document,
        }
    }

    fn with_text(text: &str) -> Value {
        json!({"product": "postcard_4x6", "back": {}, "front": {"elements": [{"id": "text", "kind": "text",
            "area": {"x": 20, "y": 20, "width": 300, "height": 100}, "text": text, "font": "Inter", "size": 9}]}})
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_version_is_made_ready_once_and_the_one_used_longest_ago_gives_way() {
        let designs = DesignCache::default();
        let ready = |version| {
            designs
                .get_or_prepare(&build_step_design(version, with_text("Hello")))
                .unwrap()
        };
        let first = ready(1);
        for version in 2..=DESIGNS_KEPT as i32 {
            ready(version);
        }
        assert!(Arc::ptr_eq(&first, &ready(1)), "it was used last now");
        let second = ready(2);
        ready(-1);
        assert!(Arc::ptr_eq(&first, &ready(1)) && Arc::ptr_eq(&second, &ready(2)));
        assert_eq!(designs.kept.lock().unwrap().len(), DESIGNS_KEPT);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn stored_values_are_read_only_for_fields_that_a_send_may_leave_out() {
        let designs = DesignCache::default();
        for (version, (text, expected)) in [
            ("Hello {{First_Name}} of {{ZIP}}", false),
            ("{{email}}", true),
            ("{{offer}}", true),
            ("Hi", false),
        ]
        .into_iter()
        .enumerate()
        {
            let ready = designs
                .get_or_prepare(&build_step_design(version as i32, with_text(text)))
                .unwrap();
            assert_eq!(ready.uses_stored_values(), expected, "{text}");
        }
    }
}
