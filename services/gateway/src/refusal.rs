//! Why a request is refused before anybody looks into it. Each API puts it into its own error.

/// A refusal that all APIs share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AdmissionError {
    /// Over the requests per minute of the key or of the source address.
    RateLimited,
    /// The body is over the limit.
    BodyTooLarge,
    /// The body did not arrive whole; the text says why.
    BodyUnreadable(&'static str),
    /// The key is missing, wrong, revoked, or of a kind that does not open this.
    InvalidKey,
    /// Something on our side failed.
    Failed,
}
