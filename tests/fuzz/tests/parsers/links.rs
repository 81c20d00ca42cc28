//! Links: of endpoints, pictures and QR codes.

use design::{HttpsLink, QrDestination};
use fuzz::Target;
use outbound::TargetUrl as Outbound;
use proptest::{prop_assert, prop_assert_eq};
use url::Url;

const LINKS: [&str; 7] = [
    "https://example.com/hook?team=1#part",
    "https://user:secret@example.com/",
    "http://127.1:8080/a%20b",
    "https://[::ffff:127.0.0.1]/",
    "https://bücher.example./ä?q=ü",
    "https://0x7f000001/",
    "https://example.com/{{code}}?to={{first_name}}",
];

const WORDS: [&str; 14] = [
    "https://",
    "//",
    "@",
    ":0",
    ":65536",
    "[::1]",
    "localhost",
    "%00",
    "%2e%2e",
    "../",
    "\\",
    "javascript:",
    "{{x}}",
    "xn--",
];

#[test]
fn fuzz_endpoint_url() {
    Target::new(LINKS)
        .words(WORDS)
        .cases(4_000)
        .run_text(|text| {
            let Ok(target) = Outbound::parse(text) else {
                return Ok(());
            };
            let url = Url::parse(target.as_str()).unwrap();
            prop_assert!(matches!(url.scheme(), "https" | "http") && url.host().is_some());
            prop_assert!(
                url.username().is_empty() && url.password().is_none() && url.fragment().is_none()
            );
            prop_assert!(!target.host_name().is_empty());
            prop_assert_eq!(Outbound::parse(target.as_str()), Ok(target));
            Ok(())
        });
}

#[test]
fn fuzz_printed_link() {
    let values = [
        "",
        "Nina & Jo",
        "../..",
        "https://evil.example/?a=b#c",
        "\u{202e}é\0",
    ];
    Target::new(LINKS)
        .words(WORDS)
        .cases(2_000)
        .run_text(|text| {
            let quoted = serde_json::Value::from(text);
            if let Ok(link) = serde_json::from_value::<HttpsLink>(quoted.clone()) {
                prop_assert!(link.as_str().starts_with("https://"));
            }
            let Ok(destination) = serde_json::from_value::<QrDestination>(quoted) else {
                return Ok(());
            };
            // A value within a link leads to no other host.
            let host = |value: &'static str| {
                let link = destination.render(|_| Some(value))?;
                Url::parse(&link).ok()?.host_str().map(str::to_owned)
            };
            let plain = host("v");
            let begins_with_a_field = text.trim_start().starts_with("{{");
            let has_field_in_host = text
                .split('/')
                .nth(2)
                .is_none_or(|host| host.contains(['{', '\\', '?', '#', '@']));
            for value in values {
                let found = host(value);
                prop_assert!(
                    begins_with_a_field || has_field_in_host || found.is_none() || found == plain,
                    "{value:?} leads from {plain:?} to {found:?}"
                );
            }
            Ok(())
        });
}
