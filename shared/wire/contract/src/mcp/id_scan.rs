//! The id of a message that is too large to be read, found while its bytes pass: a client that gets an answer without
//! its id waits for one until its patience ends.

use serde_json::value::RawValue;

use super::rpc::is_id;

/// Bytes of a member's name or value that are kept; a longer id is not found.
const KEPT_BYTES: usize = 256;

/// Looks at a JSON object's own members and keeps one of them. What is no JSON gives no id or a wrong one, never more.
#[derive(Debug, Default)]
pub struct RequestIdFinder {
    /// Brackets that are open.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// The name or the scalar value that passes.
    token: Vec<u8>,
    is_value_of_id: bool,
    found: Option<Vec<u8>>,
}

impl RequestIdFinder {
    /// Looks at the next bytes.
    pub fn scan_bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.scan_byte(*byte);
        }
    }

    /// The id, as it was sent; `None` when none has passed.
    pub fn id(&self) -> Option<Box<RawValue>> {
        let text = String::from_utf8(self.found.clone()?).ok()?;
        RawValue::from_string(text).ok().filter(|raw| is_id(raw))
    }

    fn scan_byte(&mut self, byte: u8) {
        if self.in_string {
            self.push_token_byte(byte);
            self.in_string = byte != b'"' || self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            return;
        }
        match byte {
            b'{' | b'[' => {
                // A value that is none of an id.
                self.push_token_byte(byte);
                self.depth += 1;
            }
            b'}' | b']' => {
                self.end_member();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.end_member(),
            b':' if self.depth == 1 => {
                self.is_value_of_id = self.token == b"\"id\"";
                self.token.clear();
            }
            _ if byte.is_ascii_whitespace() => {}
            _ => {
                self.in_string = byte == b'"';
                self.push_token_byte(byte);
            }
        }
    }

    fn push_token_byte(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= KEPT_BYTES {
            self.token.push(byte);
        }
    }

    fn end_member(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.is_value_of_id && self.token.len() <= KEPT_BYTES {
            self.found = Some(std::mem::take(&mut self.token));
        }
        self.is_value_of_id = false;
        self.token.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn find_id(body: &str) -> Option<String> {
        let mut scan = RequestIdFinder::default();
        // In pieces, as bodies come.
        body.as_bytes()
            .chunks(3)
            .for_each(|piece| scan.scan_bytes(piece));
        scan.id().map(|id| id.get().to_owned())
    }

    #[test]
    fn the_id_is_found_wherever_it_stands_and_only_the_messages_own() {
        for (body, id) in [
            (r#"{"id":7,"params":{"id":8}}"#, Some("7")),
            (
                r#"{"params":{"id":8,"a":["id",{"id":9}]} , "id" : "x-1" }"#,
                Some("\"x-1\""),
            ),
            (r#"{"method":"\"id\":5,{","id":-1.5}"#, Some("-1.5")),
            (r#"{"a\"id":1,"id":"\\\"","b":2}"#, Some(r#""\\\"""#)),
            (r#"{"id":7,"params":{"never":"ends"#, Some("7")),
            (r#"{"params":{"id":8}}"#, None),
            (r#"{"id":null}"#, None),
            (r#"{"id":{"a":1}}"#, None),
            (r#"[{"id":1}]"#, None),
            ("", None),
        ] {
            assert_eq!(find_id(body).as_deref(), id, "{body}");
        }
        assert_eq!(find_id(&format!(r#"{{"id":"{}"}}"#, "x".repeat(300))), None);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(|number| json!(number)),
            "[\\PC\"\\\\{}:,id]{0,8}".prop_map(|text| json!(text)),
            Just(Value::Null),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                proptest::collection::hash_map("(id|[\\PC\"]{0,4})", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_a_reader_of_json_finds(message in any_json()) {
            let read = message.get("id").filter(|id| id.is_string() || id.is_number()).map(Value::to_string);
            prop_assert_eq!(find_id(&message.to_string()), read);
        }

        #[test]
        fn any_bytes_can_pass(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut scan = RequestIdFinder::default();
            scan.scan_bytes(&body);
            let _ = scan.id();
        }
    }
}
