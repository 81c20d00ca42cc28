//! Headers that say where a request comes from and belongs to.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderValue};
use fuzz::Target;
use ipnet::IpNet;
use proptest::{prop_assert, prop_assert_eq};
use runtime::source::{build_source_key, source_address};
use runtime::trace::TraceContext;

#[test]
fn fuzz_forwarded_for() {
    let samples = [
        "203.0.113.7, 10.0.0.1",
        "[2001:db8::1]:443",
        "10.0.0.2,10.0.0.3 , unknown",
        "::ffff:10.0.0.1",
        "1.2.3.4:80",
    ];
    let trusted: [IpNet; 1] = ["10.0.0.0/8".parse().unwrap()];
    let peer: IpAddr = "10.0.0.9".parse().unwrap();
    let stranger: IpAddr = "198.51.100.1".parse().unwrap();
    Target::new(samples)
        .words([",", "[", "]", "10.0.0.1", "::", "%eth0"])
        .run(|value| {
            let Ok(value) = HeaderValue::from_bytes(value) else {
                return Ok(());
            };
            let headers = HeaderMap::from_iter([("x-forwarded-for".parse().unwrap(), value)]);
            prop_assert_eq!(
                source_address(stranger, &headers, &trusted),
                stranger,
                "a stranger is not believed"
            );
            let source = source_address(peer, &headers, &trusted);
            prop_assert_eq!(source.to_canonical(), source);
            prop_assert!(build_source_key("send", source).len() <= 32);
            Ok(())
        });
}

#[test]
fn fuzz_traceparent() {
    let samples = [
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "ff-0-0-0",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
    ];
    Target::new(samples)
        .words(["-", "00", "ff", "A"])
        .run_text(|text| {
            let context = TraceContext::from_header(Some(text));
            prop_assert_eq!(context.trace_id().len(), 32);
            let header = context.to_header();
            prop_assert_eq!(header.len(), 55);
            let again = TraceContext::from_header(Some(&header));
            prop_assert_eq!(again.trace_id(), context.trace_id());
            Ok(())
        });
}
