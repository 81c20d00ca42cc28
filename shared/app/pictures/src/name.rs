//! Names of pictures' files: by their content, so that the same picture is one file.

use chrono::{DateTime, Datelike, Utc};
use model::id::TeamId;
use store::PictureUse;

use crate::examine::PictureFormat;

/// The folder of the recipients' pictures that were fetched in a month. Nothing is added to it in another month, so
/// that it can be deleted whole when no card of that time is left to print.
pub(crate) fn month_folder(year: i32, month: u32) -> String {
    format!("pictures/{year:04}-{month:02}")
}

/// The folder for pictures that are fetched now.
pub(crate) fn picture_folder(team_id: TeamId, kept_for: PictureUse, now: DateTime<Utc>) -> String {
    let folder = match kept_for {
        PictureUse::Design => "pictures/designs".to_owned(),
        PictureUse::Recipient => month_folder(now.year(), now.month()),
    };
    format!("{folder}/{}", team_id.0)
}

/// The name of a picture in that folder, without it.
pub(crate) fn picture_file_name(content: &[u8], format: PictureFormat) -> String {
    let extension = match format {
        PictureFormat::Png => "png",
        PictureFormat::Jpeg => "jpg",
    };
    format!("{}.{extension}", blake3::hash(content).to_hex())
}

#[cfg(test)]
mod tests {
    use storage::FileName;

    use super::*;

    #[test]
    fn a_picture_is_named_by_its_content_within_its_team_and_month() {
        let team_id = TeamId(Default::default());
        let now = "2026-02-03T04:05:06Z".parse().unwrap();
        let folder = picture_folder(team_id, PictureUse::Recipient, now);
        assert_eq!(
            folder,
            "pictures/2026-02/00000000-0000-0000-0000-000000000000"
        );
        let name = picture_file_name(b"x", PictureFormat::Png);
        assert_eq!(name, picture_file_name(b"x", PictureFormat::Png));
        assert_ne!(name, picture_file_name(b"y", PictureFormat::Png));
        assert!(format!("{folder}/{name}").parse::<FileName>().is_ok());
    }
}
