//! A language model behind an OpenAI-compatible endpoint: one question, one bounded answer.

use std::time::Duration;

use chrono::TimeDelta;
use reqwest::header::RETRY_AFTER;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use runtime::config::LanguageModelSettings;
use serde::Deserialize;
use serde_json::json;

use super::ANSWER_CHARS;

/// Bytes of an answer's body; a value is a hundredth of it.
const BODY_BYTES: usize = 256 * 1024;
/// Tokens that the model may answer with: a value's characters and some more.
const ANSWER_TOKENS: usize = ANSWER_CHARS;

/// A client of the endpoint. The operator names it, so it is asked wherever it is.
pub(crate) struct LanguageModelClient {
    http: Client,
    url: Url,
    api_key: String,
    name: String,
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LanguageModelError {
    /// The same may succeed later, at the earliest after this pause.
    Again {
        reason: String,
        pause: Option<TimeDelta>,
    },
    /// It will not.
    ForGood(String),
    /// The endpoint refuses every question: the key or the model is wrong.
    Refused(String),
}

#[derive(Deserialize)]
struct ChatCompletion {
    choices: Vec<CompletionChoice>,
}

#[derive(Deserialize)]
struct CompletionChoice {
    message: CompletionMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct CompletionMessage {
    content: Option<String>,
}

impl LanguageModelClient {
    /// The configured model; `None` when no URL is.
    ///
    /// # Errors
    /// When the settings cannot be used: prompts and keys do not travel in the clear, but on this machine.
    pub(crate) fn from_settings(settings: &LanguageModelSettings) -> anyhow::Result<Option<Self>> {
        if settings.url.is_empty() {
            return Ok(None);
        }
        let url = Url::parse(&format!(
            "{}/chat/completions",
            settings.url.trim_end_matches('/')
        ))?;
        let is_here = url.host_str().is_some_and(|host| {
            host == "localhost"
                || host
                    .trim_matches(['[', ']'])
                    .parse::<std::net::IpAddr>()
                    .is_ok_and(|ip| ip.is_loopback())
        });
        anyhow::ensure!(
            url.scheme() == "https" || is_here,
            "language_model.url is not an https URL"
        );
        anyhow::ensure!(
            !settings.model.is_empty(),
            "language_model.model is not set"
        );
        anyhow::ensure!(settings.concurrency > 0, "language_model.concurrency is 0");
        #[expect(
            clippy::disallowed_methods,
            reason = "it asks the provider in the operator's settings"
        )]
        let http = Client::builder()
            .user_agent(concat!("Pillarbox/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .timeout(Duration::from_millis(settings.timeout_ms))
            .build()?;
        Ok(Some(Self {
            http,
            url,
            api_key: settings.api_key.clone(),
            name: settings.model.clone(),
        }))
    }

    /// What makes two questions the same: the model and the text.
    pub(super) fn question_digest(&self, question: &str) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.name.as_bytes());
        // No name holds it.
        hasher.update(&[0]);
        hasher.update(question.as_bytes());
        hasher.finalize().into()
    }

    /// Asks once.
    pub(super) async fn ask(&self, question: &str) -> Result<String, LanguageModelError> {
        let body = json!({
            "model": self.name,
            "messages": [{ "role": "user", "content": question }],
            "max_tokens": ANSWER_TOKENS,
        });
        let request = self.http.post(self.url.clone()).json(&body);
        let request = if self.api_key.is_empty() {
            request
        } else {
            request.bearer_auth(&self.api_key)
        };
        let response = request
            .send()
            .await
            .map_err(|error| error_from_transport(&error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(error_from_status(status, retry_after(&response)));
        }
        parse_completion(&read_bounded(response).await?)
    }
}

/// What a status that is no success means.
fn error_from_status(status: StatusCode, pause: Option<TimeDelta>) -> LanguageModelError {
    let reason = format!("the language model answered {}", status.as_u16());
    match status {
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
            LanguageModelError::Again { reason, pause }
        }
        status if status.is_server_error() => LanguageModelError::Again { reason, pause },
        StatusCode::BAD_REQUEST
        | StatusCode::UNPROCESSABLE_ENTITY
        | StatusCode::PAYLOAD_TOO_LARGE => LanguageModelError::ForGood(reason),
        _ => LanguageModelError::Refused(reason),
    }
}

fn retry_after(response: &Response) -> Option<TimeDelta> {
    let seconds: u32 = response
        .headers()
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(TimeDelta::seconds(seconds.into()))
}

fn error_from_transport(error: &reqwest::Error) -> LanguageModelError {
    let what = if error.is_timeout() {
        "did not answer in time"
    } else {
        "cannot be reached"
    };
    LanguageModelError::Again {
        reason: format!("the language model {what}"),
        pause: None,
    }
}

async fn read_bounded(mut response: Response) -> Result<Vec<u8>, LanguageModelError> {
    let mut body = Vec::new();
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| error_from_transport(&error))?
    {
        if body.len() + chunk.len() > BODY_BYTES {
            return Err(LanguageModelError::ForGood(
                "the language model's answer is too long".to_owned(),
            ));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The value in an answer's body.
fn parse_completion(body: &[u8]) -> Result<String, LanguageModelError> {
    let unreadable = || LanguageModelError::Again {
        reason: "the language model's answer cannot be read".to_owned(),
        pause: None,
    };
    let completion: ChatCompletion = serde_json::from_slice(body).map_err(|_| unreadable())?;
    let choice = completion
        .choices
        .into_iter()
        .next()
        .ok_or_else(unreadable)?;
    let is_cut = choice.finish_reason.as_deref() == Some("length");
    let content = choice.message.content.unwrap_or_default();
    let clean = |one: char| {
        if one.is_control() && one != '\n' {
            ' '
        } else {
            one
        }
    };
    let answer: String = content.trim().chars().map(clean).collect();
    if is_cut || answer.chars().nth(ANSWER_CHARS).is_some() {
        return Err(LanguageModelError::ForGood(format!(
            "the language model answered more than {ANSWER_CHARS} characters"
        )));
    }
    if answer.is_empty() {
        return Err(LanguageModelError::ForGood(
            "the language model answered nothing".to_owned(),
        ));
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn parse_answer(content: &str, finish_reason: &str) -> Result<String, LanguageModelError> {
        let body =
            json!({"choices": [{"message": {"content": content}, "finish_reason": finish_reason}]});
        parse_completion(body.to_string().as_bytes())
    }

    #[test]
    fn an_answer_is_trimmed_and_whole() {
        assert_eq!(
            parse_answer(" Dear\u{0} Ada,\nhello \n", "stop"),
            Ok("Dear  Ada,\nhello".to_owned())
        );
        assert_eq!(parse_answer(&"é".repeat(600), "stop"), Ok("é".repeat(600)));
        assert!(matches!(
            parse_answer(&"é".repeat(601), "stop"),
            Err(LanguageModelError::ForGood(_))
        ));
        assert!(matches!(
            parse_answer("Dear Ada, I", "length"),
            Err(LanguageModelError::ForGood(_))
        ));
        assert!(matches!(
            parse_answer("  ", "stop"),
            Err(LanguageModelError::ForGood(_))
        ));
    }

    #[test]
    fn rubbish_is_tried_again() {
        for body in ["", "no JSON", "{}", "{\"choices\":[]}", "{\"choices\":7}"] {
            assert!(
                matches!(
                    parse_completion(body.as_bytes()),
                    Err(LanguageModelError::Again { .. })
                ),
                "{body}"
            );
        }
    }

    #[test]
    fn statuses_tell_whether_to_try_again() {
        let kind = |code: u16| match error_from_status(StatusCode::from_u16(code).unwrap(), None) {
            LanguageModelError::Again { .. } => "again",
            LanguageModelError::ForGood(_) => "for good",
            LanguageModelError::Refused(_) => "refused",
        };
        assert_eq!([429, 500, 503, 408].map(kind), ["again"; 4]);
        assert_eq!([400, 422].map(kind), ["for good"; 2]);
        assert_eq!([401, 403, 404, 301].map(kind), ["refused"; 4]);
    }

    #[test]
    fn keys_and_prompts_do_not_travel_in_the_clear() {
        let settings = |url: &str| {
            let mut settings = runtime::Config::with(HashMap::new())
                .unwrap()
                .language_model;
            settings.url = url.to_owned();
            settings.model = "m".to_owned();
            settings
        };
        let _ = rustls::crypto::ring::default_provider().install_default();
        assert!(
            LanguageModelClient::from_settings(&settings(""))
                .unwrap()
                .is_none()
        );
        assert!(
            LanguageModelClient::from_settings(&settings("http://models.example.com/v1")).is_err()
        );
        assert!(
            LanguageModelClient::from_settings(&settings("http://127.0.0.1:9/v1"))
                .unwrap()
                .is_some()
        );
        assert!(
            LanguageModelClient::from_settings(&settings("https://models.example.com/v1"))
                .unwrap()
                .is_some()
        );
    }
}
