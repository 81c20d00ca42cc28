//! Map areas that lie in files of their own.

use std::path::Path;

use anyhow::Context;
use audience::area::MAX_BYTES;
use serde_json::Value;

use super::error::ApplyError;
use crate::text_file;

/// Puts the content of map-area files in the place of their paths.
pub(super) fn load_areas(document: &mut Value, base_folder: &Path) -> Result<(), ApplyError> {
    for (team_index, team) in iter_items(document, "teams") {
        for (index, campaign) in iter_items(team, "campaigns") {
            let Some(area) = campaign.get_mut("area") else {
                continue;
            };
            let Some(path) = area.as_str() else { continue };
            *area = read_area(&base_folder.join(path)).map_err(|reason| {
                let place = format!("teams[{team_index}].campaigns[{index}].area");
                ApplyError::refused(place, format!("{reason:#}"))
            })?;
        }
    }
    Ok(())
}

/// The items of a list; none of anything else, which is refused when the document gets its types.
fn iter_items<'a>(
    value: &'a mut Value,
    name: &str,
) -> impl Iterator<Item = (usize, &'a mut Value)> {
    value
        .get_mut(name)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .enumerate()
}

fn read_area(path: &Path) -> anyhow::Result<Value> {
    let text = text_file::read_text(path, MAX_BYTES)?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}
