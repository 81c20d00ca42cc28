//! The map area of a campaign: drawn as a picture, changed by a file.

use std::fmt::Write;

use askama::Template;
use audience::GeoArea;
use audience::area::MAX_BYTES;
use campaigns::SetAreaError;
use model::id::CampaignId;
use store::CampaignSummary;

use super::{CampaignPath, PART, find_campaign};
use crate::extract::{MemberContext, PagePath};
use crate::frame::PageFrame;
use crate::multipart::MultipartForm;
use crate::notice::{ActionNotice, redirect_with_notice};
use crate::page_error::{PageError, PageResult};
use crate::render::render_form;

/// Bytes of the form: a file, or text, and what a browser puts around them.
pub(crate) const FORM_BYTES: usize = 2 * MAX_BYTES + 64 * 1024;

/// Width and height of the picture at the most, in units of its own.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 420.0;

/// What stays free around the area, as a part of its extent.
const MARGIN: f64 = 0.06;

/// Degrees of an extent at the least, so that a point-like area has a picture too.
const SMALLEST_EXTENT: f64 = 0.001;

/// Lines of the grid in one direction, about.
const GRID_LINES: f64 = 4.0;

/// Metres of a degree of latitude.
const METRES_PER_DEGREE: f64 = 111_320.0;

const METRES_PER_MILE: f64 = 1_609.344;

/// An area as a picture. Degrees of longitude are as wide as they are in its middle.
#[derive(Debug, Template)]
#[template(path = "area_picture.html")]
pub(super) struct AreaPicture {
    /// Width and height, in units of its own.
    size: (f64, f64),
    /// One path for each polygon: its outer ring and its holes.
    paths: Vec<String>,
    grid: Vec<GridLine>,
    description: String,
}

/// A meridian or a parallel.
#[derive(Debug)]
struct GridLine {
    from: (f64, f64),
    to: (f64, f64),
    label: String,
}

/// From degrees to units of the picture.
struct MapProjection {
    west: f64,
    north: f64,
    scale: f64,
    narrowing: f64,
}

impl MapProjection {
    fn project_point(&self, longitude: f64, latitude: f64) -> (f64, f64) {
        let tenths = |units: f64| (units * 10.0).round() / 10.0;
        let east = (longitude - self.west) * self.narrowing;
        (
            tenths(east * self.scale),
            tenths((self.north - latitude) * self.scale),
        )
    }
}

/// West, south, east and north, in degrees.
#[derive(Clone, Copy)]
struct MapExtent([f64; 4]);

impl MapExtent {
    fn of(polygons: &[Vec<Vec<(f64, f64)>>]) -> Self {
        let start = [
            f64::INFINITY,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NEG_INFINITY,
        ];
        let positions = polygons.iter().flatten().flatten();
        Self(
            positions.fold(start, |[west, south, east, north], &(x, y)| {
                [west.min(x), south.min(y), east.max(x), north.max(y)]
            }),
        )
    }

    /// With room around it.
    fn with_margin(self) -> Self {
        let Self([west, south, east, north]) = self;
        let wide = (east - west).max(SMALLEST_EXTENT) * MARGIN;
        let high = (north - south).max(SMALLEST_EXTENT) * MARGIN;
        Self([west - wide, south - high, east + wide, north + high])
    }
}

impl AreaPicture {
    /// Draws stored GeoJSON.
    ///
    /// # Errors
    /// [`PageError::Invalid`] when it is no area; such text was never stored.
    pub(super) fn of(geojson: &str) -> Result<Self, PageError> {
        let area =
            GeoArea::parse(geojson).map_err(|error| PageError::Invalid(format!("{error}.")))?;
        Ok(Self::draw_polygons(&area.polygons().collect::<Vec<_>>()))
    }

    fn draw_polygons(polygons: &[Vec<Vec<(f64, f64)>>]) -> Self {
        let exact = MapExtent::of(polygons);
        let MapExtent([west, south, east, north]) = exact.with_margin();
        let narrowing = f64::midpoint(south, north).to_radians().cos().max(0.01);
        let scale = (WIDTH / ((east - west) * narrowing)).min(HEIGHT / (north - south));
        let projection = MapProjection {
            west,
            north,
            scale,
            narrowing,
        };
        let size = projection.project_point(east, south);
        Self {
            paths: polygons
                .iter()
                .map(|rings| ring_path(rings, &projection))
                .collect(),
            grid: grid_lines(&projection, [west, south, east, north]),
            description: describe_area(polygons, exact),
            size,
        }
    }
}

/// A ring after the other; a hole is where an even number of rings lie around.
fn ring_path(rings: &[Vec<(f64, f64)>], projection: &MapProjection) -> String {
    let mut path = String::new();
    for ring in rings {
        for (at, (longitude, latitude)) in ring.iter().enumerate() {
            let (x, y) = projection.project_point(*longitude, *latitude);
            let command = if at == 0 { 'M' } else { 'L' };
            // Writing to a string cannot fail.
            let _ = write!(path, "{command}{x} {y}");
        }
        path.push('Z');
    }
    path
}

fn grid_lines(projection: &MapProjection, [west, south, east, north]: [f64; 4]) -> Vec<GridLine> {
    let step = grid_step((east - west).min(north - south) / GRID_LINES);
    let lines = |from: f64, to: f64| {
        let first = (from / step).ceil() as i64;
        let last = (to / step).floor() as i64;
        (first..=last).map(move |number| number as f64 * step)
    };
    let digits = (-step.log10()).ceil().clamp(0.0, 4.0) as usize;
    let name = |degrees: f64, [positive, negative]: [&str; 2]| {
        let side = if degrees < 0.0 { negative } else { positive };
        format!("{:.digits$}° {side}", degrees.abs())
    };
    let meridians = lines(west, east).map(|degrees| GridLine {
        from: projection.project_point(degrees, south),
        to: projection.project_point(degrees, north),
        label: name(degrees, ["E", "W"]),
    });
    let parallels = lines(south, north).map(|degrees| GridLine {
        from: projection.project_point(west, degrees),
        to: projection.project_point(east, degrees),
        label: name(degrees, ["N", "S"]),
    });
    meridians.chain(parallels).collect()
}

/// The next 1, 2 or 5 of its power of ten.
fn grid_step(about: f64) -> f64 {
    let power = 10_f64.powf(about.log10().floor());
    let factors = [1.0, 2.0, 5.0];
    power
        * factors
            .into_iter()
            .find(|factor| factor * power >= about)
            .unwrap_or(10.0)
}

/// The area in words, for those who do not see the picture.
fn describe_area(
    polygons: &[Vec<Vec<(f64, f64)>>],
    MapExtent([west, south, east, north]): MapExtent,
) -> String {
    let parts = match polygons.len() {
        1 => "One area".to_owned(),
        many => format!("{many} areas"),
    };
    let holes: usize = polygons
        .iter()
        .map(|rings| rings.len().saturating_sub(1))
        .sum();
    let holes = match holes {
        0 => String::new(),
        1 => " with one hole".to_owned(),
        many => format!(" with {many} holes"),
    };
    let miles = |degrees: f64| degrees * METRES_PER_DEGREE / METRES_PER_MILE;
    let wide = miles((east - west) * f64::midpoint(south, north).to_radians().cos());
    format!(
        "{parts}{holes}, from latitude {south:.3} to {north:.3} and longitude {west:.3} to {east:.3}: about {wide:.1} by {:.1} miles.",
        miles(north - south)
    )
}

#[derive(Template)]
#[template(path = "campaign_area.html")]
struct AreaPage {
    frame: PageFrame,
    campaign: CampaignSummary,
    picture: Option<AreaPicture>,
    typed: String,
    problem: Option<String>,
}

/// The page.
pub(crate) async fn show_area(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
) -> PageResult {
    area_page(&context, &campaign_id, (String::new(), None)).await
}

async fn area_page(
    context: &MemberContext,
    campaign_id: &CampaignId,
    (typed, problem): (String, Option<String>),
) -> PageResult {
    let campaign = find_campaign(context, campaign_id).await?;
    let settings = context
        .store()
        .find_campaign(context.team_id(), campaign_id)
        .await?;
    let area = settings.and_then(|settings| settings.area);
    let picture = area.as_deref().map(AreaPicture::of).transpose()?;
    let frame = context.frame(PART);
    let is_refused = problem.is_some();
    let shown = AreaPage {
        frame,
        campaign,
        picture,
        typed,
        problem,
    };
    Ok(render_form(&shown, is_refused))
}

/// Takes a file, or what was pasted, or takes the area away.
pub(crate) async fn save_area(
    context: MemberContext,
    PagePath(campaign_id): CampaignPath,
    form: Result<MultipartForm, PageError>,
) -> PageResult {
    let form = match form {
        Ok(form) => form,
        Err(failure) => {
            let typed = (String::new(), Some(failure.form_problem(FORM_BYTES)?));
            return area_page(&context, &campaign_id, typed).await;
        }
    };
    let (actor, team_id, now) = (context.actor(), context.team_id(), context.now());
    let (store, address) = (context.store(), format!("/campaigns/{campaign_id}/area"));
    if form.text("do")? == "remove" {
        campaigns::remove_campaign_area(store, actor, team_id, &campaign_id, now).await?;
        return Ok(redirect_with_notice(&address, ActionNotice::AreaRemoved));
    }
    let pasted = form.text("text")?.trim();
    let file = match form.text("file") {
        Ok(file) => file.trim(),
        Err(failure) => {
            let typed = (pasted.to_owned(), Some(failure.form_problem(FORM_BYTES)?));
            return area_page(&context, &campaign_id, typed).await;
        }
    };
    let geojson = if file.is_empty() { pasted } else { file };
    let problem = if geojson.is_empty() {
        "Choose a file, or paste its content.".to_owned()
    } else {
        let wanted = (&campaign_id, geojson);
        match campaigns::set_campaign_area(store, actor, team_id, wanted, now).await {
            Ok(()) => return Ok(redirect_with_notice(&address, ActionNotice::AreaChanged)),
            Err(SetAreaError::Area(error)) => format!("Nothing was changed: {error}."),
            Err(SetAreaError::Store(error)) => return Err(error.into()),
        }
    };
    let typed = (pasted.to_owned(), Some(problem));
    area_page(&context, &campaign_id, typed).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_keeps_proportions_and_holes() {
        let square = |west: f64, south: f64, side: f64| {
            vec![
                (west, south),
                (west + side, south),
                (west + side, south + side),
                (west, south + side),
                (west, south),
            ]
        };
        let picture =
            AreaPicture::draw_polygons(&[vec![square(-98.0, 30.0, 1.0), square(-97.8, 30.2, 0.2)]]);
        assert_eq!(picture.paths.len(), 1);
        assert_eq!(picture.paths[0].matches('Z').count(), 2);
        assert!(picture.size.0 <= WIDTH + 0.1 && picture.size.1 <= HEIGHT + 0.1);
        // At this latitude a degree of longitude is 0.86 as long as one of latitude.
        assert!((picture.size.0 / picture.size.1 - 30.5_f64.to_radians().cos()).abs() < 0.01);
        assert!(
            picture
                .description
                .starts_with("One area with one hole, from latitude 30.000 to 31.000")
        );
        assert!(!picture.grid.is_empty() && picture.grid.len() < 40);
    }

    #[test]
    fn an_area_of_no_extent_has_a_picture() {
        let picture = AreaPicture::draw_polygons(&[vec![vec![(10.0, 90.0); 4]]]);
        assert!(picture.size.0.is_finite() && picture.size.1.is_finite());
    }

    #[test]
    fn a_grid_has_round_steps() {
        assert_eq!(
            [0.07, 0.3, 1.0, 4.0, 6.0].map(grid_step),
            [0.1, 0.5, 1.0, 5.0, 10.0]
        );
    }
}
