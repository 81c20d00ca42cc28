//! What a design looks like: with sample values, with values of one's own, or with those of somebody in the address
//! book.

use std::collections::BTreeMap;

use audience::{ValueLookup, fold_name};
use axum::extract::RawQuery;
use axum::http::HeaderMap;
use design::{ImageSource, PrintableDesign, Product, Side};
use model::id::DesignId;
use serde_json::Value;
use store::BookEntryLine;
use uuid::Uuid;

use crate::extract::{MemberContext, PagePath};
use crate::page::address_book::person_values;
use crate::page_error::{PageError, PageResult};
use crate::proof_renderer::{ProofRequest, find_side};

/// Before the name of a field in an address.
const FIELD: &str = "value.";

/// People whom a search offers.
const PEOPLE: i64 = 10;

/// Fields that a page asks values for.
const FIELDS: usize = 50;

/// With what a proof is to be drawn, as an address says it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ProofQuery {
    /// Values by folded name.
    values: BTreeMap<String, String>,
    /// Somebody of the address book, who stands before the values.
    entry_id: Option<Uuid>,
    /// How the names of people begin who are looked for.
    search: String,
}

impl ProofQuery {
    pub(super) fn parse(query: Option<&str>) -> Self {
        let mut asked = Self::default();
        for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            match &*name {
                "entry" => asked.entry_id = value.parse().ok(),
                "search" => asked.search = value.trim().to_owned(),
                _ => {
                    if let Some(field) = name.strip_prefix(FIELD)
                        && !value.is_empty()
                    {
                        asked.values.insert(fold_name(field), value.into_owned());
                    }
                }
            }
        }
        asked
    }

    /// The part of an address that asks for the same.
    fn to_query(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        match self.entry_id {
            Some(entry_id) => query.append_pair("entry", &entry_id.to_string()),
            None => query.extend_pairs(
                self.values
                    .iter()
                    .map(|(name, value)| (format!("{FIELD}{name}"), value)),
            ),
        };
        query.finish()
    }
}

/// A field that the page asks a value for.
pub(super) struct ProofField {
    /// As the design first writes it.
    pub(super) name: String,
    /// The name of its input.
    pub(super) input: String,
    /// What was typed.
    pub(super) value: String,
    /// What stands there when nothing was typed.
    pub(super) sample: String,
}

/// The part of a page that shows a version.
pub(super) struct ProofView {
    pub(super) design_id: DesignId,
    pub(super) version: i32,
    /// `None` when the document cannot print; then there are no pictures.
    pub(super) product: Option<Product>,
    /// What the addresses of the pictures end with.
    pub(super) query: String,
    pub(super) fields: Vec<ProofField>,
    /// What a send would say of the card with these values; nothing of the sample person's.
    pub(super) findings: Vec<String>,
    /// Whose values are shown.
    pub(super) person: Option<String>,
    pub(super) search: String,
    pub(super) people: Vec<BookEntryLine>,
}

impl ProofView {
    /// The view of this document.
    pub(super) async fn new(
        context: &MemberContext,
        design: (DesignId, i32),
        document: &Value,
        asked: ProofQuery,
    ) -> Result<Self, PageError> {
        let (store, team_id) = (context.store(), context.team_id());
        let people = match asked.search.as_str() {
            "" => Vec::new(),
            search => {
                store
                    .list_entries_by_name(
                        team_id,
                        search,
                        &store::BookEntryCursor::default(),
                        PEOPLE,
                    )
                    .await?
            }
        };
        let person = match asked.entry_id {
            Some(entry_id) => {
                let address = store.find_entry(team_id, entry_id).await?.address;
                Some(
                    format!("{} {}", address.first_name, address.last_name)
                        .trim()
                        .to_owned(),
                )
            }
            None => None,
        };
        let findings = proof_findings(context, design, document, &asked).await?;
        let document = PrintableDesign::parse(document).ok();
        Ok(Self {
            findings,
            design_id: design.0,
            version: design.1,
            product: document.as_ref().map(PrintableDesign::product),
            query: asked.to_query(),
            fields: document
                .as_ref()
                .map(|document| proof_fields(document, &asked))
                .unwrap_or_default(),
            person,
            search: asked.search,
            people,
        })
    }

    /// Whether values were typed.
    pub(super) fn has_own_values(&self) -> bool {
        self.fields.iter().any(|field| !field.value.is_empty())
    }

    /// Width and height of the pictures' places, in points of a screen.
    pub(super) fn size(&self) -> (f64, f64) {
        self.product.map_or((0.0, 0.0), |product| {
            (product.trim_area().width, product.trim_area().height)
        })
    }
}

/// What a send would say of the card that is asked for: why it would not be mailed, and its warnings.
async fn proof_findings(
    context: &MemberContext,
    (design_id, version): (DesignId, i32),
    document: &Value,
    asked: &ProofQuery,
) -> Result<Vec<String>, PageError> {
    if asked.entry_id.is_none() && asked.values.is_empty() {
        return Ok(Vec::new());
    }
    let fields = proof_values(context, asked, document).await?;
    let document = document.clone();
    let team_id = context.team_id();
    // Either side of a card says the same of it.
    let wanted = ProofRequest {
        team_id,
        design: (design_id, version),
        document,
        fields,
        side: Side::Front,
    };
    context
        .console
        .proofs
        .card_findings(wanted, context.now())
        .await
}

/// The values that are asked for.
async fn proof_values(
    context: &MemberContext,
    asked: &ProofQuery,
    document: &Value,
) -> Result<BTreeMap<String, String>, PageError> {
    match asked.entry_id {
        Some(entry_id) => person_fields(context, entry_id, document).await,
        None => Ok(asked.values.clone()),
    }
}

fn proof_fields(document: &PrintableDesign, asked: &ProofQuery) -> Vec<ProofField> {
    let samples = printing::sample_values(document);
    let field = |name: &str| {
        let folded = fold_name(name);
        ProofField {
            input: format!("{FIELD}{folded}"),
            value: asked.values.get(&folded).cloned().unwrap_or_default(),
            sample: samples.get(&folded).cloned().unwrap_or_default(),
            name: name.to_owned(),
        }
    };
    document
        .field_names()
        .into_iter()
        .take(FIELDS)
        .map(field)
        .collect()
}

/// A picture of one surface of a version.
pub(crate) async fn show_proof(
    context: MemberContext,
    PagePath((design_id, version, side)): PagePath<(DesignId, i32, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> PageResult {
    let side = find_side(&side)?;
    let team_id = context.team_id();
    let document = context
        .store()
        .find_version_document(team_id, design_id, version)
        .await?;
    let asked = ProofQuery::parse(query.as_deref());
    let fields = proof_values(&context, &asked, &document).await?;
    let wanted = ProofRequest {
        team_id,
        design: (design_id, version),
        document,
        fields,
        side,
    };
    context
        .console
        .proofs
        .picture_response(&headers, wanted, context.now())
        .await
}

/// The values of somebody of the address book for a design's fields; blanks too, so that no sample stands in for them.
async fn person_fields(
    context: &MemberContext,
    entry_id: Uuid,
    document: &Value,
) -> Result<BTreeMap<String, String>, PageError> {
    let Ok(document) = PrintableDesign::parse(document) else {
        return Ok(BTreeMap::new());
    };
    let (store, team_id) = (context.store(), context.team_id());
    let values = person_values(&store.find_entry(team_id, entry_id).await?);
    let formulas = columns::FormulaColumns::new(&store.list_columns(team_id).await?);
    let computed = formulas.for_recipient(&values, context.today());
    let value = |field: &str| {
        let name = fold_name(field);
        let value = computed.value(&name).unwrap_or_default().to_owned();
        (name, value)
    };
    let address = [
        "first_name",
        "last_name",
        "address_1",
        "address_2",
        "city",
        "state",
        "zip",
    ];
    Ok(document
        .field_names()
        .into_iter()
        .chain(address)
        .map(value)
        .filter(|value| is_shown(&document, value))
        .collect())
}

/// A blank link to a picture is no value: the picture's own default stands there.
fn is_shown(document: &PrintableDesign, (name, value): &(String, String)) -> bool {
    let is_picture = |source: &ImageSource| match source {
        ImageSource::Variable { field, .. } => fold_name(field) == *name,
        ImageSource::Fixed { .. } => false,
    };
    !value.is_empty() || !printing::image_sources(document).any(is_picture)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_asked_for_again() {
        let asked = ProofQuery::parse(Some(
            "value.First%20Name=Ann+%26+Bo&value.empty=&search=+mar&other=1",
        ));
        assert_eq!(
            asked.values,
            BTreeMap::from([("first name".to_owned(), "Ann & Bo".to_owned())])
        );
        assert_eq!(asked.search, "mar");
        assert_eq!(
            ProofQuery::parse(Some(&asked.to_query())).values,
            asked.values
        );
        let entry_id = Uuid::now_v7();
        let person = ProofQuery::parse(Some(&format!("entry={entry_id}&value.x=1")));
        assert_eq!(person.to_query(), format!("entry={entry_id}"));
    }
}
