//! The pictures of designs that were saved: fetched now, so that their owner hears of one that cannot be used before
//! the first send does.

use ::pictures::{PictureFetcher, ResolvedPicture};
use anyhow::Context;
use design::{ElementContent, ImageElement, ImageSource, PrintableDesign, Side};
use outbound::{OutboundClient, TargetPolicy};
use runtime::{Clock, Config};
use serde_json::Value;
use storage::Storage;
use store::Store;

use super::applied::AppliedFile;

/// Fetches and keeps the pictures of the designs that were applied, and notes those that cannot be used. That one
/// cannot is no failure: the host may be down, and a send tries again.
///
/// # Errors
/// When the store of files or the database cannot be used.
pub async fn fetch_pictures(
    config: &Config,
    store: &Store,
    applied: &mut AppliedFile,
) -> anyhow::Result<()> {
    if applied
        .teams
        .iter()
        .all(|team| team.designs.iter().all(|design| design.links.is_empty()))
    {
        return Ok(());
    }
    runtime::install_crypto();
    let client = OutboundClient::new(TargetPolicy::new(&config.outbound.allowed_networks))?;
    let storage = Storage::new(&config.storage)?;
    let (clock, settings) = (Clock::system(), config.pictures.clone());
    let pictures = PictureFetcher::new(client, storage, store.clone(), clock, settings);
    for team in &mut applied.teams {
        for design in &mut team.designs {
            let links = design.links.iter().map(String::as_str);
            let fetched = pictures.refetch_links(team.team_id, links).await;
            let fetched = fetched.context("the pictures of designs cannot be kept")?;
            let mut unusable: Vec<String> = fetched
                .iter()
                .filter_map(|(link, picture)| match picture {
                    ResolvedPicture::Unusable(why) => {
                        Some(format!("the picture {link} cannot be used: {why}"))
                    }
                    ResolvedPicture::Kept(_) => None,
                })
                .collect();
            unusable.sort_unstable();
            design.unusable_pictures = unusable;
        }
    }
    Ok(())
}

/// The links of a design's own pictures; none of a draft that cannot be read.
pub(super) fn list_image_links(document: &Value) -> Vec<String> {
    let Ok(document) = PrintableDesign::parse(document) else {
        return Vec::new();
    };
    let elements = Side::ALL
        .into_iter()
        .flat_map(|side| &document.side(side).elements);
    let links = elements.filter_map(|element| match &element.content {
        ElementContent::Image(ImageElement {
            source: ImageSource::Fixed { link },
            ..
        }) => Some(link),
        ElementContent::Image(ImageElement {
            source: ImageSource::Variable { default, .. },
            ..
        }) => default.as_ref(),
        _ => None,
    });
    links.map(|link| link.as_str().to_owned()).collect()
}
