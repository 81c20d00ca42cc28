//! Where the QR codes of a card lead. It is settled when the card is made: what the recipient's fields say later
//! does not change a card that is on its way.

use audience::{ValueLookup, fold_name};
use design::{ElementContent, PrintableDesign, QrCode, Side};
use url::Url;

/// The QR codes of a design, front before back: a card's code and the position among these make the address that
/// prints.
#[derive(Debug, Default)]
pub(crate) struct QrLinks {
    codes: Vec<QrCode>,
}

impl QrLinks {
    pub(crate) fn from_document(document: &PrintableDesign) -> Self {
        let elements = [Side::Front, Side::Back].map(|side| &document.side(side).elements);
        let codes = elements
            .into_iter()
            .flatten()
            .filter_map(|element| match &element.content {
                ElementContent::QrCode(code) => Some(code.clone()),
                _ => None,
            });
        Self {
            codes: codes.collect(),
        }
    }

    /// Where they lead for this recipient, in order, separated by spaces: a destination whose fields are all there,
    /// else the fallback link.
    pub(crate) fn resolve_destinations(&self, recipient: &dyn ValueLookup) -> String {
        let links: Vec<String> = self
            .codes
            .iter()
            .map(|code| resolve_destination(code, recipient))
            .collect();
        links.join(" ")
    }
}

fn resolve_destination(code: &QrCode, recipient: &dyn ValueLookup) -> String {
    let keys: Vec<String> = code
        .destination
        .template()
        .field_names()
        .map(fold_name)
        .collect();
    // Rendering asks for the fields by the names that the template has.
    let value = |name: &str| {
        let key = keys.iter().find(|key| **key == fold_name(name));
        key.and_then(|key| recipient.value(key))
    };
    let link = code
        .destination
        .render(value)
        .and_then(|link| Url::parse(&link).ok());
    // As browsers write it: ASCII without spaces, fit for a header.
    link.map_or_else(|| code.fallback_link.as_str().to_owned(), String::from)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::json;

    use columns::RecipientProfile;

    use super::*;

    struct TestLookup(HashMap<&'static str, &'static str>);

    impl ValueLookup for TestLookup {
        fn value(&self, column: &str) -> Option<&str> {
            self.0.get(column).copied()
        }
    }

    fn build_links(destinations: [&str; 2]) -> QrLinks {
        let code = |id: &str, destination: &str, x: i32| {
            json!({"id": id, "kind": "qr_code", "area": {"x": x, "y": 100, "width": 80, "height": 80},
                "destination": destination, "fallback_link": format!("https://example.com/{id}")})
        };
        let document = json!({"product": "postcard_4x6",
            "front": {"elements": [code("front", destinations[0], 20)]},
            "back": {"elements": [code("back", destinations[1], 20)]}});
        QrLinks::from_document(&PrintableDesign::parse(&document).unwrap())
    }

    fn render_destinations(
        links: &QrLinks,
        first_name: &str,
        values: &[(&'static str, &'static str)],
    ) -> String {
        let values = TestLookup(values.iter().copied().collect());
        links.resolve_destinations(&RecipientProfile {
            name: (first_name, "Reader"),
            lines: ("1 Main St", ""),
            city: "Austin",
            state: "TX",
            zip: "78701",
            place: None,
            values: &values,
        })
    }

    #[test]
    fn fields_are_filled_in_front_before_back() {
        let links = build_links([
            "https://a.example/?n={{First_Name}}&z={{zip}}",
            "https://b.example/{{Offer Code}}",
        ]);
        assert_eq!(
            render_destinations(&links, "José", &[("offer code", "X7")]),
            "https://a.example/?n=Jos%C3%A9&z=78701 https://b.example/X7"
        );
    }

    #[test]
    fn the_fallback_link_stands_in_when_a_field_is_empty_or_no_link_comes_of_it() {
        let links = build_links(["https://a.example/{{offer}}", "{{page}}"]);
        let fallback = "https://example.com/front https://example.com/back";
        assert_eq!(render_destinations(&links, "Ann", &[]), fallback);
        let values = [("offer", ".."), ("page", "javascript:alert(1)")];
        assert_eq!(render_destinations(&links, "Ann", &values), fallback);
    }

    #[test]
    fn values_are_encoded_and_part_by_spaces_no_link_from_the_next() {
        let links = build_links([
            "https://a.example/{{offer}}",
            "https://b.example/?q={{offer}}",
        ]);
        assert_eq!(
            render_destinations(&links, "Ann", &[("offer", "2 for 1 https://c.example/")]),
            "https://a.example/2%20for%201%20https%3A%2F%2Fc.example%2F \
             https://b.example/?q=2%20for%201%20https%3A%2F%2Fc.example%2F"
        );
    }
}
