//! Why a picture was not delivered, in words for somebody who knows pictures and not networks.

use std::error::Error;

use outbound::{InvalidTarget, Refusal, RequestError};

use crate::schedule::Sign;

/// A picture that its host did not deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Undelivered {
    /// What it says of the host.
    pub(crate) sign: Sign,
    /// Whether it only took too long.
    pub(crate) is_timeout: bool,
    /// The end of a sentence about the picture.
    pub(crate) why: String,
}

impl Undelivered {
    /// The host answered, with a status that is not 200.
    pub(crate) fn with_status(status: u16) -> Self {
        let meaning = match status {
            401 | 403 => " (it may not be looked at)",
            404 | 410 => " (it is not there)",
            429 => " (it was asked too often)",
            500..=599 => " (the host has a problem)",
            _ => "",
        };
        Self {
            sign: Sign::Answered,
            is_timeout: false,
            why: format!("its host answered with status {status}{meaning}"),
        }
    }

    /// The request failed.
    pub(crate) fn of(error: &RequestError) -> Self {
        let (cause, place, is_elsewhere) = match error {
            RequestError::Elsewhere { host, error } => {
                (&**error, format!("{host}, where its link leads,"), true)
            }
            error => (error, "its host".to_owned(), false),
        };
        let (sign, why) = told(cause, &place);
        // What another host does says nothing of the one that the picture's link names.
        let sign = if is_elsewhere { Sign::None } else { sign };
        let is_timeout = matches!(cause, RequestError::Timeout(_));
        tracing::debug!(error = error as &dyn Error, "a picture was not delivered");
        Self { sign, is_timeout, why }
    }
}

fn told(error: &RequestError, place: &str) -> (Sign, String) {
    match error {
        RequestError::Refused(Refusal::NotHttps) => {
            (Sign::None, "its link does not begin with https://".to_owned())
        }
        RequestError::Refused(Refusal::NotPublic) => {
            (Sign::Silent, format!("{place} is not on the public internet"))
        }
        RequestError::Refused(Refusal::Unresolved) => (Sign::Silent, format!("{place} does not exist")),
        RequestError::Connect(_) => (Sign::Silent, format!("{place} cannot be reached")),
        RequestError::Tls(_) => {
            (Sign::Silent, format!("{place} has no valid certificate for a secure connection (https)"))
        }
        RequestError::Timeout(time) => {
            (Sign::Silent, format!("{place} did not deliver it within {} seconds", time.as_secs_f64()))
        }
        RequestError::Http(_) => (Sign::Answered, format!("{place} did not deliver all of it")),
        RequestError::TooLarge(bytes) => (Sign::Answered, format!("it has more than {bytes} bytes")),
        RequestError::Redirects => {
            (Sign::Answered, "its link leads on too often, or to what is no link".to_owned())
        }
        RequestError::Elsewhere { error, .. } => told(error, place),
    }
}

/// Why a text is no link to a picture, as the end of a sentence about the picture.
pub(crate) fn no_link(error: &InvalidTarget) -> String {
    match error {
        InvalidTarget::TooLong => "its link is too long".to_owned(),
        InvalidTarget::NotAUrl(_) => "what stands for its link is not a web link".to_owned(),
        InvalidTarget::Scheme => "its link does not begin with https://".to_owned(),
        InvalidTarget::UserInfo => "its link has a user name or password in it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn elsewhere(error: RequestError) -> RequestError {
        RequestError::Elsewhere { host: "b.example".to_owned(), error: Box::new(error) }
    }

    #[test]
    fn what_another_host_does_is_not_held_against_the_one_that_the_link_names() {
        let timeout = || RequestError::Timeout(Duration::from_secs(5));
        assert_eq!(Undelivered::of(&timeout()).sign, Sign::Silent);
        for error in [timeout(), RequestError::Refused(Refusal::NotPublic), RequestError::Redirects] {
            let undelivered = Undelivered::of(&elsewhere(error));
            assert_eq!(undelivered.sign, Sign::None, "{undelivered:?}");
        }
    }

    #[test]
    fn a_reason_needs_no_knowledge_of_networks() {
        let refused = std::io::Error::other("invalid peer certificate: UnknownIssuer");
        for (error, why) in [
            (RequestError::Tls(refused), "its host has no valid certificate for a secure connection (https)"),
            (
                RequestError::Connect(std::io::ErrorKind::ConnectionRefused.into()),
                "its host cannot be reached",
            ),
            (
                RequestError::Timeout(Duration::from_millis(500)),
                "its host did not deliver it within 0.5 seconds",
            ),
            (
                elsewhere(RequestError::Refused(Refusal::NotPublic)),
                "b.example, where its link leads, is not on the public internet",
            ),
        ] {
            assert_eq!(Undelivered::of(&error).why, why);
        }
        assert_eq!(
            no_link(&InvalidTarget::NotAUrl("relative URL without a base".to_owned())),
            "what stands for its link is not a web link"
        );
    }
}
