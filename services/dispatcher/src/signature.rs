//! Signatures, for endpoints that have asked for them (Standard Webhooks 1.0, symmetric).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The value of the header: one signature for each key, separated by spaces.
pub(crate) fn sign(secrets: &[Vec<u8>], id: &str, timestamp: i64, body: &str) -> Option<String> {
    let signatures: Vec<String> = secrets
        .iter()
        .filter_map(|secret| {
            // HMAC takes keys of any length.
            let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
            mac.update(format!("{id}.{timestamp}.").as_bytes());
            mac.update(body.as_bytes());
            Some(format!(
                "v1,{}",
                STANDARD.encode(mac.finalize().into_bytes())
            ))
        })
        .collect();
    (!signatures.is_empty()).then(|| signatures.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_the_specification() {
        // The example of the Standard Webhooks reference libraries' tests.
        let secret = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let sign = |secrets: &[Vec<u8>]| {
            sign(
                secrets,
                "msg_p5jXN8AQM9LWM0D4loKWxJek",
                1_614_265_330,
                r#"{"test": 2432232314}"#,
            )
        };
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(
            sign(std::slice::from_ref(&secret)).as_deref(),
            Some(expected)
        );
        let both = sign(&[vec![7; 32], secret]).unwrap();
        assert!(both.ends_with(&format!(" {expected}")) && both.matches("v1,").count() == 2);
        assert_eq!(sign(&[]), None);
    }
}
