//! Why a picture was not delivered, in words for somebody who knows pictures and not networks.

use std::error::Error;

use outbound::{OutboundError, TargetPolicyError, TargetUrlError};

use crate::schedule::HostSignal;

/// A picture that its host did not deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DownloadError {
    /// What it says of the host.
    pub(crate) sign: HostSignal,
    /// Whether it only took too long.
    pub(crate) is_timeout: bool,
    /// The end of a sentence about the picture.
    pub(crate) why: String,
}

impl DownloadError {
    /// The host answered, with a status that is not 200.
    pub(crate) fn from_status(status: u16) -> Self {
        let meaning = match status {
            401 | 403 => " (it may not be looked at)",
            404 | 410 => " (it is not there)",
            429 => " (it was asked too often)",
            500..=599 => " (the host has a problem)",
            _ => "",
        };
        Self {
            sign: HostSignal::Answered,
            is_timeout: false,
            why: format!("its host answered with status {status}{meaning}"),
        }
    }

    /// The request failed.
    pub(crate) fn from_request_error(error: &OutboundError) -> Self {
        let (cause, place, is_elsewhere) = match error {
            OutboundError::Elsewhere { host, error } => {
                (&**error, format!("{host}, where its link leads,"), true)
            }
            error => (error, "its host".to_owned(), false),
        };
        let (sign, why) = describe_error(cause, &place);
        // What another host does says nothing of the one that the picture's link names.
        let sign = if is_elsewhere { HostSignal::None } else { sign };
        let is_timeout = matches!(cause, OutboundError::Timeout(_));
        tracing::debug!(error = error as &dyn Error, "a picture was not delivered");
        Self {
            sign,
            is_timeout,
            why,
        }
    }
}

fn describe_error(error: &OutboundError, place: &str) -> (HostSignal, String) {
    match error {
        OutboundError::Refused(TargetPolicyError::NotHttps) => (
            HostSignal::None,
            "its link does not begin with https://".to_owned(),
        ),
        OutboundError::Refused(TargetPolicyError::NotPublic) => (
            HostSignal::Silent,
            format!("{place} is not on the public internet"),
        ),
        OutboundError::Refused(TargetPolicyError::Unresolved) => {
            (HostSignal::Silent, format!("{place} does not exist"))
        }
        OutboundError::Connect(_) => (HostSignal::Silent, format!("{place} cannot be reached")),
        OutboundError::Tls(_) => (
            HostSignal::Silent,
            format!("{place} has no valid certificate for a secure connection (https)"),
        ),
        OutboundError::Timeout(time) => (
            HostSignal::Silent,
            format!(
                "{place} did not deliver it within {} seconds",
                time.as_secs_f64()
            ),
        ),
        OutboundError::Http(_) => (
            HostSignal::Answered,
            format!("{place} did not deliver all of it"),
        ),
        OutboundError::TooLarge(bytes) => (
            HostSignal::Answered,
            format!("it has more than {bytes} bytes"),
        ),
        OutboundError::Redirects => (
            HostSignal::Answered,
            "its link leads on too often, or to what is no link".to_owned(),
        ),
        OutboundError::Elsewhere { error, .. } => describe_error(error, place),
    }
}

/// Why a text is no link to a picture, as the end of a sentence about the picture.
pub(crate) fn describe_invalid_link(error: &TargetUrlError) -> String {
    match error {
        TargetUrlError::TooLong => "its link is too long".to_owned(),
        TargetUrlError::NotAUrl(_) => "what stands for its link is not a web link".to_owned(),
        TargetUrlError::Scheme => "its link does not begin with https://".to_owned(),
        TargetUrlError::UserInfo => "its link has a user name or password in it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn error_elsewhere(error: OutboundError) -> OutboundError {
        OutboundError::Elsewhere {
            host: "b.example".to_owned(),
            error: Box::new(error),
        }
    }

    #[test]
    fn what_another_host_does_is_not_held_against_the_one_that_the_link_names() {
        let timeout = || OutboundError::Timeout(Duration::from_secs(5));
        assert_eq!(
            DownloadError::from_request_error(&timeout()).sign,
            HostSignal::Silent
        );
        for error in [
            timeout(),
            OutboundError::Refused(TargetPolicyError::NotPublic),
            OutboundError::Redirects,
        ] {
            let undelivered = DownloadError::from_request_error(&error_elsewhere(error));
            assert_eq!(undelivered.sign, HostSignal::None, "{undelivered:?}");
        }
    }

    #[test]
    fn a_reason_needs_no_knowledge_of_networks() {
        let refused = std::io::Error::other("invalid peer certificate: UnknownIssuer");
        for (error, why) in [
            (
                OutboundError::Tls(refused),
                "its host has no valid certificate for a secure connection (https)",
            ),
            (
                OutboundError::Connect(std::io::ErrorKind::ConnectionRefused.into()),
                "its host cannot be reached",
            ),
            (
                OutboundError::Timeout(Duration::from_millis(500)),
                "its host did not deliver it within 0.5 seconds",
            ),
            (
                error_elsewhere(OutboundError::Refused(TargetPolicyError::NotPublic)),
                "b.example, where its link leads, is not on the public internet",
            ),
        ] {
            assert_eq!(DownloadError::from_request_error(&error).why, why);
        }
        assert_eq!(
            describe_invalid_link(&TargetUrlError::NotAUrl(
                "relative URL without a base".to_owned()
            )),
            "what stands for its link is not a web link"
        );
    }
}
