//! Changes of designs.

use chrono::{DateTime, Utc};
use design::{DesignError, PrintableDesign};
use model::id::{DesignId, TeamId};
use model::name::DisplayName;
use serde_json::Value;
use store::{Actor, NewDesign, SavedDesign, Store, StoreError, StoredDesign, Transaction};

/// Why a design was not made.
#[derive(Debug, thiserror::Error)]
pub enum CreateDesignError {
    /// The team has a design of this name.
    #[error("the team has a design of this name")]
    NameTaken,
    /// The database could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why no version was saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveVersionError {
    /// Another version stands than the one that the caller began with: this one.
    #[error("the design was saved meanwhile")]
    Overtaken(Box<StoredDesign>),
    /// The team has no such design, or the database could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a version was not gone back to.
#[derive(Debug, thiserror::Error)]
pub enum RestoreDesignError {
    /// What could print when it was saved meets a rule that came since.
    #[error(transparent)]
    Unprintable(#[from] UnprintableDocument),
    /// The team has no such design or version, or the database could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A design as a file has it.
#[derive(Debug, Clone, Copy)]
pub struct DesignContent<'a> {
    /// Its name, by which the team's design is found.
    pub name: &'a str,
    /// What it prints.
    pub document: &'a DesignDocument,
    /// Whether a language model made it and no person has saved it yet.
    pub is_ai_draft: bool,
}

/// Makes a design.
///
/// # Errors
/// [`CreateDesignError`] when the team has one of this name.
pub async fn create_design(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (name, document): (&DisplayName, &DesignDocument),
    now: DateTime<Utc>,
) -> Result<SavedDesign, CreateDesignError> {
    let name = name.as_str();
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    match transaction.find_design_by_name(team_id, name).await {
        Err(StoreError::NotFound(_)) => {}
        Err(error) => return Err(error.into()),
        Ok(_) => return Err(CreateDesignError::NameTaken),
    }
    let new = build_new_design(actor, name, document);
    let saved = transaction.save_design(team_id, &new, now).await?;
    transaction
        .record_activity(team_id, actor, "design.created", name, now)
        .await?;
    transaction.commit().await?;
    Ok(saved)
}

/// Saves another version of a design that was begun with the version `begun_with`. A document that is no different makes no new
/// version.
///
/// # Errors
/// [`SaveVersionError`]; nothing is changed then.
pub async fn save_version(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (design_id, begun_with): (DesignId, i32),
    document: &DesignDocument,
    now: DateTime<Utc>,
) -> Result<SavedDesign, SaveVersionError> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let standing = transaction.lock_design(team_id, design_id).await?;
    if standing.summary.version != begun_with {
        return Err(SaveVersionError::Overtaken(Box::new(standing)));
    }
    let name = standing.summary.name.as_str();
    let new = build_new_design(actor, name, document);
    let saved = transaction.save_design(team_id, &new, now).await?;
    record_version(&transaction, actor, team_id, (name, saved.version), now).await?;
    transaction.commit().await?;
    Ok(saved)
}

/// Goes back to a version of a design, by a new one with its document.
///
/// # Errors
/// [`RestoreDesignError`]; nothing is changed then.
pub async fn restore_version(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    (design_id, version): (DesignId, i32),
    now: DateTime<Utc>,
) -> Result<SavedDesign, RestoreDesignError> {
    let document = store
        .find_version_document(team_id, design_id, version)
        .await?;
    let document = DesignDocument::new(document)?;
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let standing = transaction.lock_design(team_id, design_id).await?;
    let name = standing.summary.name.as_str();
    let new = build_new_design(actor, name, &document);
    let saved = transaction.save_design(team_id, &new, now).await?;
    let subject = format!("{name}, version {} as version {version}", saved.version);
    transaction
        .record_activity(team_id, actor, "design.restored", &subject, now)
        .await?;
    transaction.commit().await?;
    Ok(saved)
}

/// Makes a design or gives the team's one of this name this content, with an entry in the log unless it has it already.
///
/// # Errors
/// [`StoreError`] when the database cannot be asked.
pub async fn save_design_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    wanted: DesignContent<'_>,
    now: DateTime<Utc>,
) -> store::Result<SavedDesign> {
    let DesignContent {
        name,
        document,
        is_ai_draft,
    } = wanted;
    let standing = transaction.lock_design_by_name(team_id, name).await?;
    let is_standing = |standing: &StoredDesign| {
        standing.document == *document.as_value() && standing.summary.is_ai_draft == is_ai_draft
    };
    if let Some(StoredDesign { summary, .. }) = standing.as_ref().filter(|one| is_standing(one)) {
        return Ok(SavedDesign {
            design_id: summary.design_id,
            version: summary.version,
        });
    }
    let new = NewDesign {
        is_ai_draft,
        ..build_new_design(actor, name, document)
    };
    let saved = transaction.save_design(team_id, &new, now).await?;
    if standing.is_some() {
        record_version(transaction, actor, team_id, (name, saved.version), now).await?;
    } else {
        transaction
            .record_activity(team_id, actor, "design.created", name, now)
            .await?;
    }
    Ok(saved)
}

/// A document that a person saves with their name, and the operator without one.
fn build_new_design<'a>(
    actor: Actor<'a>,
    name: &'a str,
    document: &'a DesignDocument,
) -> NewDesign<'a> {
    NewDesign {
        name,
        document: document.as_value(),
        is_ai_draft: false,
        saved_by: actor.member_name(),
    }
}

async fn record_version(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    team_id: TeamId,
    (name, version): (&str, i32),
    now: DateTime<Utc>,
) -> store::Result<()> {
    let subject = format!("{name}, version {version}");
    transaction
        .record_activity(team_id, actor, "design.saved", &subject, now)
        .await
}

/// The document of a design that can print.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignDocument(Value);

/// Why a document cannot be a design's.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UnprintableDocument {
    /// It has a character that neither a press nor the database takes.
    #[error("The document has the character U+0000 in it, which nothing can print.")]
    NullCharacter,
    /// It is no design, or one that cannot print.
    #[error(transparent)]
    Design(#[from] DesignError),
}

impl DesignDocument {
    /// Checks that a document can print.
    ///
    /// # Errors
    /// [`UnprintableDocument`]: what keeps it from that.
    pub fn new(document: Value) -> Result<Self, UnprintableDocument> {
        if document.to_string().contains(r"\u0000") {
            return Err(UnprintableDocument::NullCharacter);
        }
        PrintableDesign::parse(&document)?;
        Ok(Self(document))
    }

    /// The document as it is stored.
    pub const fn as_value(&self) -> &Value {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_print_is_no_document() {
        let document = json!({ "product": "postcard_4x6", "front": {}, "back": {} });
        assert!(DesignDocument::new(document.clone()).is_ok());
        let mut unknown = document.clone();
        unknown["product"] = json!("billboard");
        assert!(matches!(
            DesignDocument::new(unknown),
            Err(UnprintableDocument::Design(_))
        ));
        let mut null = document;
        null["$schema"] = json!("a\0b");
        assert_eq!(
            DesignDocument::new(null),
            Err(UnprintableDocument::NullCharacter)
        );
    }
}
