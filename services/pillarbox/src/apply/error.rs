//! Why a file was not applied.

use store::StoreError;

/// Why a file was not applied. Nothing of it was.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The text is neither YAML nor JSON; the sentence has the line.
    #[error("the file cannot be read: {0}")]
    Unreadable(String),
    /// Something in it is wrong.
    #[error("{place}: {reason}")]
    Refused {
        /// Where in the file, such as `teams[0].campaigns[1].conditions.all[0]`.
        place: String,
        /// A sentence.
        reason: String,
    },
    /// The database could not be asked.
    #[error(transparent)]
    Database(#[from] StoreError),
}

impl ApplyError {
    pub(super) fn refused(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Refused {
            place: place.into(),
            reason: reason.into(),
        }
    }
}

/// Adds the place in the file to what the database refused.
pub(super) trait WithPlace<T> {
    fn with_place(self, place: &str) -> Result<T, ApplyError>;
}

impl<T> WithPlace<T> for store::Result<T> {
    fn with_place(self, place: &str) -> Result<T, ApplyError> {
        self.map_err(|source| match source {
            StoreError::Refused { constraint, .. } => {
                ApplyError::refused(place, constraint_sentence(&constraint))
            }
            StoreError::NotFound(_) | StoreError::Limit(_) => {
                ApplyError::refused(place, source.to_string())
            }
            source => ApplyError::Database(source),
        })
    }
}

/// A rule of the schema in the words of the file.
fn constraint_sentence(constraint: &str) -> String {
    match constraint {
        "campaigns_team_id_name_key" => "another campaign of the team has this name".to_owned(),
        other => format!("the database refused it: {other}"),
    }
}
