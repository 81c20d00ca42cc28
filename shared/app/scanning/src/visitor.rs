//! Who asks for a card's link: a person's phone, or a program that looks ahead?

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisitorKind {
    /// A person, as far as can be told.
    Person,
    /// A link preview, a prefetch, a crawler.
    Program,
}

/// Headers with which a browser says that nobody has gone to the page yet.
const PURPOSE_HEADERS: [&str; 4] = ["sec-purpose", "purpose", "x-purpose", "x-moz"];

/// What such a header says, or begins with.
const PURPOSES: [&str; 3] = ["prefetch", "prerender", "preview"];

/// What the user agents of previewers and crawlers have in them, in lower case. "bot" is the word that most of
/// them choose; phones and browsers avoid it, but for one maker of phones.
const PROGRAMS: [&str; 11] = [
    "bot",
    "crawler",
    "spider",
    "preview",
    "facebookexternalhit",
    "whatsapp/",
    "embedly",
    "skypeuripreview",
    "mastodon/",
    "google-safety",
    "headlesschrome",
];

/// A maker of phones with "bot" in its name.
const NOT_A_BOT: &str = "cubot";

impl VisitorKind {
    /// The name in the database.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Program => "program",
        }
    }
}

/// Who asks with these headers.
pub fn classify_visitor<'h>(header: impl Fn(&str) -> Option<&'h str>) -> VisitorKind {
    let looks_ahead = PURPOSE_HEADERS
        .iter()
        .filter_map(|name| header(name))
        .any(|value| {
            let value = value.trim().to_ascii_lowercase();
            PURPOSES.iter().any(|purpose| value.starts_with(purpose))
        });
    let agent = header("user-agent")
        .unwrap_or_default()
        .to_ascii_lowercase()
        .replace(NOT_A_BOT, "");
    if looks_ahead || PROGRAMS.iter().any(|program| agent.contains(program)) {
        VisitorKind::Program
    } else {
        VisitorKind::Person
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classify_header(name: &'static str, value: &'static str) -> VisitorKind {
        classify_visitor(|asked| (asked == name).then_some(value))
    }

    #[test]
    fn fuzz_visitor() {
        let samples = [
            "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X)",
            "Slackbot 1.0",
            "CUBOT",
            "cucubotbot",
            "prefetch",
        ];
        fuzz::Target::new(samples)
            .words(PROGRAMS)
            .words([NOT_A_BOT, "İ", "BOT"])
            .run_text(|agent| {
                let found = classify_visitor(|name| (name == "user-agent").then_some(agent));
                // Case tells nothing, and what comes before or after a crawler's name does not hide it.
                let upper = agent.to_ascii_uppercase();
                proptest::prop_assert_eq!(
                    classify_visitor(|name| (name == "user-agent").then_some(&*upper)),
                    found
                );
                let crawler = format!("{agent} Googlebot/2.1 {agent}");
                proptest::prop_assert_eq!(
                    classify_visitor(|name| (name == "user-agent").then_some(&*crawler)),
                    VisitorKind::Program
                );
                for header in PURPOSE_HEADERS {
                    let _ = classify_visitor(|name| (name == header).then_some(agent));
                }
                Ok(())
            });
    }

    #[test]
    fn phones_are_persons() {
        assert_eq!(classify_visitor(|_| None), VisitorKind::Person);
        for agent in [
            "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1",
            "Mozilla/5.0 (Linux; Android 16; Pixel 10) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
            "Mozilla/5.0 (Linux; Android 13; CUBOT KINGKONG 9) AppleWebKit/537.36 Chrome/142.0.0.0 Mobile Safari/537.36",
        ] {
            assert_eq!(
                classify_header("user-agent", agent),
                VisitorKind::Person,
                "{agent}"
            );
        }
        assert_eq!(classify_header("purpose", "navigate"), VisitorKind::Person);
    }

    #[test]
    fn previewers_and_prefetchers_are_programs() {
        for (name, value) in [
            (
                "user-agent",
                "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
            ),
            ("user-agent", "facebookexternalhit/1.1"),
            ("user-agent", "WhatsApp/2.23.20.0"),
            (
                "user-agent",
                "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            ),
            ("user-agent", "Mozilla/5.0 BingPreview/1.0b"),
            ("sec-purpose", "prefetch;prerender"),
            ("purpose", "Prefetch"),
            ("x-purpose", "preview"),
            ("x-moz", "prefetch"),
        ] {
            assert_eq!(
                classify_header(name, value),
                VisitorKind::Program,
                "{name}: {value}"
            );
        }
    }
}
