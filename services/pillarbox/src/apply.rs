//! `pillarbox apply FILE`: teams and what belongs to them, from one file, repeatably.
//!
//! Text is read into a document ([`text`]), the document into typed fields that are right on their own
//! ([`file`], [`field`]), these are checked against each other ([`check`]), and then saved in one transaction
//! ([`save`]). Then the pictures of the designs are fetched ([`pictures`]).

mod applied;
mod area;
mod check;
mod column;
mod endpoint;
mod error;
mod field;
mod file;
mod pictures;
mod save;
#[cfg(test)]
mod tests;
mod text;

use std::path::Path;

use chrono::{DateTime, Utc};
use outbound::TargetPolicy;
use serde_json::Value;
use store::Store;

pub use applied::{
    AppliedCampaign, AppliedDesign, AppliedEndpoint, AppliedFile, AppliedKey, AppliedMember,
    AppliedTeam, AppliedTopUp,
};
pub use error::ApplyError;
pub use model::name::{DisplayName, NormalizedEmail};
pub use pictures::fetch_pictures;
pub use text::FILE_BYTES;
pub(crate) use text::parse_document as read_document;

use file::ApplyFile;

/// Creates or updates what the text (YAML or JSON) describes, all or nothing; the same text again changes
/// nothing. Paths in it are relative to `base_folder`; `policy` says which hosts its endpoints may be on.
///
/// # Errors
/// [`ApplyError`], which names the place in the file.
pub async fn apply_text(
    store: &Store,
    text: &str,
    base_folder: &Path,
    policy: &TargetPolicy,
    now: DateTime<Utc>,
) -> Result<AppliedFile, ApplyError> {
    let file = parse_file(text, base_folder)?;
    endpoint::check_hosts(&file, policy).await?;
    // A conflict with a request under way is tried again; any other end is the end.
    store::retry_conflicts(|| async {
        match save_teams(store, &file, now).await {
            Err(ApplyError::Database(error)) if error.is_conflict() => Err(error),
            outcome => Ok(outcome),
        }
    })
    .await?
}

/// A file that is right in itself, with the map areas that it names by path.
fn parse_file(text: &str, base_folder: &Path) -> Result<ApplyFile, ApplyError> {
    let mut document = text::parse_document(text).map_err(ApplyError::Unreadable)?;
    area::load_areas(&mut document, base_folder)?;
    let file: ApplyFile = serde_path_to_error::deserialize(&document).map_err(|error| {
        let place = error.path().to_string();
        let place = if place == "." {
            "the file".to_owned()
        } else {
            add_design_name(place, &document)
        };
        ApplyError::refused(place, error.into_inner().to_string())
    })?;
    check::check_file(&file)?;
    Ok(file)
}

/// The place with the name of the design it is in, which its owner knows it by: `teams[0].designs[1] ("Spring")`.
fn add_design_name(place: String, document: &Value) -> String {
    let Some((team, rest)) = place.split_once(".designs[") else {
        return place;
    };
    let Some((index, rest)) = rest.split_once(']') else {
        return place;
    };
    let pointer = format!(
        "/{}/designs/{index}/name",
        team.replace('[', "/").replace(']', "")
    );
    match document.pointer(&pointer).and_then(Value::as_str) {
        Some(name) => format!("{team}.designs[{index}] ({name:?}){rest}"),
        None => place,
    }
}

async fn save_teams(
    store: &Store,
    file: &ApplyFile,
    now: DateTime<Utc>,
) -> Result<AppliedFile, ApplyError> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let mut teams = Vec::new();
    for (place, team) in check::iter_items("", "teams", &file.teams) {
        teams.push(save::save_team(&transaction, &place, team, now).await?);
    }
    transaction.commit().await?;
    Ok(AppliedFile { teams })
}
