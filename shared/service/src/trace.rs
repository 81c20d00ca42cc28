//! W3C trace context: taken from the caller or begun here, and carried on.

use rand::RngExt;

/// A request's place in a trace (W3C Trace Context, version 00).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: String,
    flags: String,
}

impl TraceContext {
    /// Reads a `traceparent` header; a malformed or absent one begins a new trace.
    pub fn from_header(header: Option<&str>) -> Self {
        header.and_then(Self::parse).unwrap_or_else(Self::begin)
    }

    fn begin() -> Self {
        let trace_id: u128 = rand::rng().random_range(1..=u128::MAX);
        Self { trace_id: format!("{trace_id:032x}"), flags: "00".to_owned() }
    }

    fn parse(header: &str) -> Option<Self> {
        let mut parts = header.trim().split('-');
        let (version, trace_id, parent_id, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_hex = |text: &str, length: usize| {
            text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_zero = |text: &str| text.bytes().all(|byte| byte == b'0');
        let valid = is_hex(version, 2)
            && version != "ff"
            && is_hex(trace_id, 32)
            && !is_zero(trace_id)
            && is_hex(parent_id, 16)
            && !is_zero(parent_id)
            && is_hex(flags, 2);
        valid.then(|| Self { trace_id: trace_id.to_owned(), flags: flags.to_owned() })
    }

    /// The trace's id, for logs: 32 hexadecimal digits.
    pub fn trace_id(&self) -> &str {
        &self.trace_id
    }

    /// The header to send on, with this process as the parent.
    pub fn header(&self) -> String {
        let parent_id: u64 = rand::rng().random_range(1..=u64::MAX);
        format!("00-{}-{parent_id:016x}-{}", self.trace_id, self.flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_carried_on_and_a_malformed_one_begun_anew() {
        let sent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = TraceContext::from_header(Some(sent));
        assert_eq!(context.trace_id(), "0af7651916cd43dd8448eb211c80319c");
        assert!(context.header().starts_with("00-0af7651916cd43dd8448eb211c80319c-"));
        assert!(context.header().ends_with("-01"));
        for wrong in [
            "",
            "00-0-0-0",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        ] {
            let begun = TraceContext::from_header(Some(wrong));
            assert_eq!(begun.trace_id().len(), 32, "{wrong}");
            assert_ne!(begun, TraceContext::from_header(None));
        }
    }
}
