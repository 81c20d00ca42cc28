//! Pictures of what prints.

use std::sync::Arc;

use design::Product;
use hayro::hayro_interpret::InterpreterSettings;
use hayro::hayro_syntax::Pdf;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings};
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder, RgbaImage};

/// Points of an inch.
const INCH: f64 = 72.0;

/// Dots per inch at the most: past it the largest product takes hundreds of megabytes.
const LARGEST_RESOLUTION: u32 = 600;

/// How much of a surface a proof shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofCrop {
    /// The card as it is cut.
    Trim,
    /// With what is cut off.
    Bleed,
}

/// Why there is no proof.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// Not a PDF that can be read.
    #[error("the PDF cannot be read: {0}")]
    Unreadable(String),
    /// It has no such page.
    #[error("the PDF has no page {0}")]
    NoPage(usize),
    /// Zero, or past the largest.
    #[error("a proof has 1 to {LARGEST_RESOLUTION} dots per inch, not {0}")]
    Resolution(u32),
    /// The picture cannot be made.
    #[error(transparent)]
    Picture(#[from] image::ImageError),
}

/// Renders pages of a PDF of this product, each as a PNG: `pages` counts from 1, `resolution` is dots per inch.
///
/// # Errors
/// [`ProofError`].
pub fn render_proof(
    pdf: Vec<u8>,
    product: Product,
    pages: impl IntoIterator<Item = usize>,
    resolution: u32,
    crop: ProofCrop,
) -> Result<Vec<Vec<u8>>, ProofError> {
    if !(1..=LARGEST_RESOLUTION).contains(&resolution) {
        return Err(ProofError::Resolution(resolution));
    }
    let pdf =
        Pdf::new(Arc::new(pdf)).map_err(|error| ProofError::Unreadable(format!("{error:?}")))?;
    let scale = f64::from(resolution) / INCH;
    let cache = RenderCache::new();
    pages
        .into_iter()
        .map(|page| {
            render_page(&pdf, &cache, page, scale)
                .and_then(|whole| encode_png(whole, product, scale, crop))
        })
        .collect()
}

fn render_page<'a>(
    pdf: &'a Pdf,
    cache: &RenderCache<'a>,
    page: usize,
    scale: f64,
) -> Result<RgbaImage, ProofError> {
    let found = page
        .checked_sub(1)
        .and_then(|index| pdf.pages().get(index))
        .ok_or(ProofError::NoPage(page))?;
    // A resolution of hundreds fits the shorter type.
    let scale = scale as f32;
    let pixels = PixmapSettings {
        x_scale: scale,
        y_scale: scale,
        bg_color: WHITE,
    };
    let drawn = hayro::render(
        found,
        cache,
        &InterpreterSettings::default(),
        &RenderSettings::default(),
        &pixels,
    );
    let (width, height) = (u32::from(drawn.width()), u32::from(drawn.height()));
    // On white paper nothing is left transparent, so that colours are as they were multiplied.
    let bytes = drawn.data_as_u8_slice().to_vec();
    RgbaImage::from_raw(width, height, bytes)
        .ok_or_else(|| ProofError::Unreadable("it is too large".to_owned()))
}

fn encode_png(
    whole: RgbaImage,
    product: Product,
    scale: f64,
    crop: ProofCrop,
) -> Result<Vec<u8>, ProofError> {
    let shown = match crop {
        ProofCrop::Bleed => whole,
        ProofCrop::Trim => {
            let (trim, bleed) = (product.trim_area(), product.bleed_area());
            // Lengths of a card in pixels are far within what the type holds.
            let pixels = |points: f64| (points * scale).round() as u32;
            let (x, y) = (pixels(trim.x - bleed.x), pixels(trim.y - bleed.y));
            image::imageops::crop_imm(&whole, x, y, pixels(trim.width), pixels(trim.height))
                .to_image()
        }
    };
    let rgb = image::DynamicImage::ImageRgba8(shown).into_rgb8();
    let mut png = Vec::new();
    PngEncoder::new(&mut png).write_image(
        rgb.as_raw(),
        rgb.width(),
        rgb.height(),
        ExtendedColorType::Rgb8,
    )?;
    Ok(png)
}
