//! The language model that writes AI columns.

use serde::Deserialize;

/// An OpenAI-compatible endpoint and its bounds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageModelSettings {
    /// What `/chat/completions` is put behind; empty for none.
    pub url: String,
    /// Bearer key; empty for none.
    pub api_key: String,
    /// The model's name.
    pub model: String,
    /// Milliseconds for one call.
    pub timeout_ms: u64,
    /// Calls at a time.
    pub concurrency: u16,
    /// Tries of a value.
    pub attempts: i32,
    /// Milliseconds before the second try; doubled for each further one.
    pub pause_ms: i64,
    /// Characters of questions and answers that a team may use in a UTC day.
    pub characters_per_team_and_day: i64,
    /// Days that an answer is kept for the same question.
    pub answer_days: i64,
}
