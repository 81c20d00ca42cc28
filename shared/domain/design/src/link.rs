//! Links.

use audience::column::may_be_cut;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use url::Url;

use crate::limits::LINK_CHARS;
use crate::template::{RenderedTemplate, TextTemplate};

/// What is encoded in a value that stands within a link: all but the unreserved characters (RFC 3986 §2.3), as simple
/// expansion in URI templates does (RFC 6570 §3.2.2).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// An https link, for what prints and what a QR code falls back to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct HttpsLink(Url);

/// Where a QR code leads: a template that becomes an http or https link.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct QrDestination(TextTemplate);

impl HttpsLink {
    /// The link.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl QrDestination {
    /// The template.
    pub const fn template(&self) -> &TextTemplate {
        &self.0
    }

    /// The link with a recipient's values; `None` when a needed field is empty or what comes of it is no http
    /// or https link, so that the fallback link prints; also when a value may have been cut.
    ///
    /// A value is text, which is percent-encoded: it stays within the one part of the path or query where the
    /// template has it. Only a value that the link begins with is itself a link, taken as it is.
    pub fn render<'v>(&self, lookup: impl Fn(&str) -> Option<&'v str>) -> Option<String> {
        // No encoding keeps these from leading up the path.
        let is_usable = |value: &&str| !matches!(value.trim(), "." | "..") && !may_be_cut(value);
        let value = |name: &str| lookup(name).filter(is_usable);
        let RenderedTemplate { text, empty_fields } = self.0.render_with(value, push_encoded_value);
        (empty_fields.is_empty() && parse_web_link(&text).is_ok()).then_some(text)
    }
}

fn push_encoded_value(link: &mut String, value: &str) {
    let value = value.trim();
    if link.is_empty() {
        // People write links with spaces, which every browser puts right; so does what fetches pictures.
        link.push_str(&value.replace(' ', "%20"));
    } else {
        link.extend(utf8_percent_encode(value, RESERVED));
    }
}

/// Reads an http or https link.
fn parse_web_link(text: &str) -> Result<Url, String> {
    if text.chars().nth(LINK_CHARS).is_some() {
        return Err(format!("the link has more than {LINK_CHARS} characters"));
    }
    if text.contains(|character: char| character.is_whitespace() || character.is_control()) {
        return Err(format!("the link {text:?} has a space in it"));
    }
    let url = Url::parse(text).map_err(|error| format!("{text:?} is not a link: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!(
            "the link {text:?} must begin with https:// or http://"
        ));
    }
    Ok(url)
}

impl TryFrom<String> for HttpsLink {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.contains(['{', '}']) {
            return Err(format!(
                "the link {text:?} has a brace in it: it is the same for everybody, without fields"
            ));
        }
        let url = parse_web_link(&text)?;
        if url.scheme() != "https" {
            return Err(format!("the link {text:?} must begin with https://"));
        }
        Ok(Self(url))
    }
}

impl TryFrom<String> for QrDestination {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let template = TextTemplate::parse(&text).map_err(|error| error.to_string())?;
        // A destination that begins with a field is whatever the recipient's value is; any other is tried
        // with a value that can stand everywhere in a link, even for a port.
        if template.field_names().next().is_none() || !template.leading_text().is_empty() {
            parse_web_link(&template.render(|_| Some("1")).text)?;
        }
        Ok(Self(template))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse_destination(text: &str) -> Result<QrDestination, String> {
        QrDestination::try_from(text.to_owned())
    }

    #[test]
    fn a_fallback_link_is_https_with_a_host() {
        assert!(HttpsLink::try_from("https://example.com/a?b=c#d".to_owned()).is_ok());
        for text in [
            "",
            "example.com",
            "http://example.com",
            "https://",
            "ftp://example.com",
            "https://example.com/a b",
            "https://example.com/{{x}}",
            "https://{{domain}}/",
        ] {
            assert!(HttpsLink::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_destination_is_checked_as_far_as_it_is_known() {
        for text in [
            "http://example.com",
            "https://{{domain}}/x?name={{first_name}}",
            "{{link}}",
            "{{link|x}}/y",
        ] {
            assert!(parse_destination(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "javascript:{{code}}",
            "mailto:{{email}}",
            "https://{{domain",
            "/{{path}}",
        ] {
            assert!(parse_destination(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_destination_that_is_no_link_for_a_recipient_is_none() {
        let whole = parse_destination("{{link}}").unwrap();
        assert_eq!(
            whole.render(|_| Some("https://a.example/b")).as_deref(),
            Some("https://a.example/b")
        );
        assert_eq!(whole.render(|_| Some("javascript:alert(1)")), None);
        let part = parse_destination("https://example.com/{{code}}").unwrap();
        assert_eq!(part.render(|_| None), None);
        assert_eq!(
            part.render(|_| Some("7")).as_deref(),
            Some("https://example.com/7")
        );
    }

    #[test]
    fn a_value_is_percent_encoded_and_stays_where_the_template_has_it() {
        let link = parse_destination(
            "https://example.com/a/{{path}}/b?x={{query}}&y=1#{{fragment|top of page}}",
        )
        .unwrap();
        let rendered = |value: &'static str| {
            let filled = |name: &str| (name != "fragment").then_some(value);
            link.render(filled).unwrap()
        };
        for (value, encoded) in [
            ("plain-Text_1.5~", "plain-Text_1.5~"),
            ("two words", "two%20words"),
            ("a/b?c=d&e#f", "a%2Fb%3Fc%3Dd%26e%23f"),
            ("100%", "100%25"),
            ("%2F", "%252F"),
            ("a+b", "a%2Bb"),
            ("../../x", "..%2F..%2Fx"),
            ("\\evil.example", "%5Cevil.example"),
            ("José", "Jos%C3%A9"),
            ("東京", "%E6%9D%B1%E4%BA%AC"),
            ("line\nbreak", "line%0Abreak"),
        ] {
            let expected =
                format!("https://example.com/a/{encoded}/b?x={encoded}&y=1#top%20of%20page");
            assert_eq!(rendered(value), expected);
            assert_eq!(
                Url::parse(&expected).unwrap().as_str(),
                expected,
                "and no reader changes it"
            );
        }
    }

    #[test]
    fn a_value_cannot_lead_up_the_path_or_to_another_host() {
        let path = parse_destination("https://example.com/a/{{code}}").unwrap();
        assert_eq!(
            (path.render(|_| Some(".")), path.render(|_| Some(".."))),
            (None, None)
        );
        let host = parse_destination("https://{{shop}}.example.com/").unwrap();
        assert_eq!(
            host.render(|_| Some("north")).as_deref(),
            Some("https://north.example.com/")
        );
        for value in [
            "evil.example/",
            "evil.example#",
            "evil.example\\",
            "evil@",
            "a:1",
        ] {
            assert_eq!(host.render(|_| Some(value)), None, "{value}");
        }
    }

    #[test]
    fn a_value_that_the_link_begins_with_is_the_link_and_those_behind_it_are_encoded() {
        let link = parse_destination("{{link}}?name={{name}}").unwrap();
        let value = |name: &str| {
            Some(if name == "link" {
                "https://a.example/b%20c/d"
            } else {
                "A & B"
            })
        };
        assert_eq!(
            link.render(value).as_deref(),
            Some("https://a.example/b%20c/d?name=A%20%26%20B")
        );
        let spaced = parse_destination("{{link}}")
            .unwrap()
            .render(|_| Some(" https://a.example/b c "));
        assert_eq!(spaced.as_deref(), Some("https://a.example/b%20c"));
        assert_eq!(
            parse_destination("{{link}}")
                .unwrap()
                .render(|_| Some("https://a.example/b\tc")),
            None
        );
    }

    proptest! {
        #[test]
        fn any_value_comes_back_from_the_query_as_it_was(value in "\\PC{1,40}") {
            let trimmed = value.trim();
            prop_assume!(!matches!(trimmed, "" | "." | ".."));
            let link = parse_destination("https://example.com/{{value}}?v={{value}}&end=1").unwrap();
            let link = Url::parse(&link.render(|_| Some(&value)).unwrap()).unwrap();
            let pairs: Vec<_> = link.query_pairs().into_owned().collect();
            prop_assert_eq!(pairs, [("v".to_owned(), trimmed.to_owned()), ("end".to_owned(), "1".to_owned())]);
            prop_assert_eq!(link.path_segments().unwrap().count(), 1);
        }
    }
}
