//! What would become of the card that a proof shows.

use contract::send::ReturnAddressReason;
use design::{LayoutPlan, Typesetter};
use serde::Serialize;
use store::MailpieceContent;

use crate::card::PrintedRecipient;
use crate::sample::ADDRESS_FIELDS;

/// What a send would say of the card.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProofFindings {
    /// Why it would not be mailed.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<ProofFinding>,
    warnings: Vec<ProofFinding>,
    /// Why the fallback return address prints.
    #[serde(skip_serializing_if = "Option::is_none")]
    return_address_reason: Option<ReturnAddressReason>,
    /// Sample values for fields that the design does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_fields: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct ProofFinding {
    code: &'static str,
    field: String,
    detail: String,
}

impl ProofFindings {
    /// Decides the card as a send does. `given` are the folded names of the sample values.
    pub(crate) fn new(plan: &LayoutPlan, content: &MailpieceContent, given: &[String]) -> Self {
        let mut findings = Self::default();
        match plan.check_layout(&mut Typesetter::new(), &PrintedRecipient(content)) {
            Ok(warnings) => {
                let warnings = warnings.into_iter().map(|warning| ProofFinding {
                    code: warning.code.as_str(),
                    field: warning.field,
                    detail: warning.detail,
                });
                findings.warnings = warnings.collect();
            }
            Err(design::LayoutError {
                reason,
                field,
                detail,
            }) => {
                findings.refusal = Some(ProofFinding {
                    code: reason.as_str(),
                    field,
                    detail,
                });
            }
        }
        let document = plan.document();
        let value = |field: &str| {
            content
                .fields
                .get(&audience::fold_name(field))
                .map(String::as_str)
        };
        let is_whole = |design: &design::ReturnAddress| design.address.render(value).is_whole;
        if !document.return_address().is_none_or(is_whole) {
            findings.return_address_reason = Some(ReturnAddressReason::MissingTokenValue);
        }
        let fields: Vec<String> = document
            .field_names()
            .into_iter()
            .map(audience::fold_name)
            .collect();
        let is_known =
            |name: &str| ADDRESS_FIELDS.contains(&name) || fields.iter().any(|field| field == name);
        findings.unknown_fields = given
            .iter()
            .filter(|name| !is_known(name))
            .cloned()
            .collect();
        findings
    }

    /// Whether no card would be mailed.
    pub const fn is_refusal(&self) -> bool {
        self.refusal.is_some()
    }

    /// A sentence for each.
    pub fn sentences(&self) -> Vec<String> {
        let refusal = self
            .refusal
            .iter()
            .map(|ProofFinding { code, detail, .. }| {
                format!("This card would not be mailed ({code}): {detail}")
            });
        let warnings = self
            .warnings
            .iter()
            .map(|ProofFinding { code, detail, .. }| format!("Warning ({code}): {detail}"));
        let address = self.return_address_reason.iter().map(|_| {
            "The return address has an empty field (missing_token_value), so its fallback prints.".to_owned()
        });
        let unknown = self.unknown_fields.iter().map(|name| {
            format!("The design has no field \"{name}\": its value prints nowhere by itself.")
        });
        refusal
            .chain(warnings)
            .chain(address)
            .chain(unknown)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use design::PrintableDesign;
    use serde_json::json;

    use super::*;

    fn build_findings(given: &[(&str, &str)]) -> ProofFindings {
        let text = json!({"id": "name", "kind": "text", "font": "Inter", "size": 20, "text": "{{first_name|you}}",
            "area": {"x": 20, "y": 20, "width": 100, "height": 30}});
        let picture = json!({"id": "photo", "kind": "image", "source": {"variable": {"field": "Photo"}},
            "area": {"x": 20, "y": 100, "width": 100, "height": 30}});
        let document =
            json!({"product": "postcard_4x6", "front": {"elements": [text, picture]}, "back": {}});
        let fields = given
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let content = MailpieceContent {
            fields,
            ..MailpieceContent::default()
        };
        let given: Vec<String> = content.fields.keys().cloned().collect();
        ProofFindings::new(
            &LayoutPlan::new(PrintableDesign::parse(&document).unwrap()),
            &content,
            &given,
        )
    }

    #[test]
    fn a_card_that_would_not_be_mailed_says_why() {
        for (name, code) in [
            ("🎉", "unsupported_characters"),
            ("Bartholomew the third", "text_overflow"),
        ] {
            let found = build_findings(&[("first_name", name)]);
            assert!(found.is_refusal());
            let sentence = &found.sentences()[0];
            assert!(
                sentence.starts_with(&format!("This card would not be mailed ({code}): ")),
                "{sentence}"
            );
            assert_eq!(
                serde_json::to_value(&found).unwrap()["refusal"]["code"],
                code
            );
        }
    }

    #[test]
    fn warnings_and_fields_that_the_design_has_not_are_told_of() {
        let found = build_findings(&[("first_nmae", "Ada"), ("last_name", "Miles")]);
        assert!(!found.is_refusal());
        let [warning, unknown] = &found.sentences()[..] else {
            panic!("{found:?}")
        };
        assert!(
            warning.starts_with("Warning (variable_image_blank): "),
            "{warning}"
        );
        assert!(unknown.contains("\"first_nmae\""), "{unknown}");
    }
}
