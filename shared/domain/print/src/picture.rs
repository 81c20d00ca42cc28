//! Pictures: JPEG as it is, PNG as its pixels.

use std::io::{self, Cursor, Write};

use bytes::Bytes;
use design::{ImageFit, PageRect};
use flate2::Compression;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, Limits};
use pdf_writer::writers::ImageXObject;
use pdf_writer::{Content, Filter, Name, Ref};

use crate::file::{ObjectFile, deflate_bytes};
use crate::jpeg::JpegHeader;
use crate::number::pdf_number;

/// Bytes that decoding a picture may take.
const DECODED_BYTES: u64 = 512 * 1024 * 1024;

/// The colour spaces of samples.
const GREY: &[u8] = b"DeviceGray";
const RGB: &[u8] = b"DeviceRGB";
const CMYK: &[u8] = b"DeviceCMYK";

/// The file of a JPEG begins with these bytes.
const JPEG_SIGNATURE: &[u8] = &[0xFF, 0xD8, 0xFF];

/// Where pictures are kept.
pub trait PictureStore {
    /// Reads a kept picture by the name of its file: PNG or JPEG. Each is asked for once.
    ///
    /// # Errors
    /// [`PictureError`].
    fn read_picture(&mut self, file: &str) -> Result<Bytes, PictureError>;
}

/// Why a kept picture could not be had.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// It is not there: a card that needs it cannot print.
    #[error("the file is not in the store")]
    Missing,
    /// The store does not answer: it may do so later.
    #[error("the store cannot be read: {0}")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A picture in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EmbeddedPicture {
    pub(crate) object: Ref,
    /// Pixels, as it is looked at.
    width: f64,
    height: f64,
    orientation: Orientation,
}

/// Why a picture is not in the file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EmbedError {
    /// It is none, or of a kind that cannot print.
    #[error("{0}")]
    Unreadable(String),
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl From<ImageError> for EmbedError {
    fn from(error: ImageError) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// Puts a picture into the file.
pub(crate) fn embed_image<W: Write>(
    file: &mut ObjectFile<W>,
    bytes: &[u8],
) -> Result<EmbeddedPicture, EmbedError> {
    if bytes.starts_with(JPEG_SIGNATURE) {
        embed_jpeg(file, bytes)
    } else {
        embed_png(file, bytes)
    }
}

fn embed_jpeg<W: Write>(
    file: &mut ObjectFile<W>,
    bytes: &[u8],
) -> Result<EmbeddedPicture, EmbedError> {
    let mut decoder = JpegDecoder::new(Cursor::new(bytes))?;
    let size = decoder.dimensions();
    let orientation = decoder.orientation()?;
    // The decoder tells what it would decode to, which is not what the file has.
    let Some(header) = JpegHeader::parse(bytes) else {
        return Err(EmbedError::Unreadable(
            "its header cannot be read".to_owned(),
        ));
    };
    let space: &[u8] = match header.components {
        1 => GREY,
        3 => RGB,
        4 => CMYK,
        other => {
            return Err(EmbedError::Unreadable(format!(
                "a JPEG of {other} colours cannot print"
            )));
        }
    };
    let object = file.add_object(|chunk, object| {
        let mut stream = chunk.image_xobject(object, bytes);
        stream.filter(Filter::DctDecode);
        describe_image(&mut stream, size, space);
        if space == CMYK && header.is_adobe {
            // Adobe's programs write how much of each ink is left out.
            stream.decode([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        }
    })?;
    Ok(EmbeddedPicture::new(object, size, orientation))
}

fn embed_png<W: Write>(
    file: &mut ObjectFile<W>,
    bytes: &[u8],
) -> Result<EmbeddedPicture, EmbedError> {
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODED_BYTES);
    let mut decoder = PngDecoder::with_limits(Cursor::new(bytes), limits)?;
    let orientation = decoder.orientation()?;
    let picture = DynamicImage::from_decoder(decoder)?;
    let size = (picture.width(), picture.height());
    let mask = match alpha_channel(&picture) {
        Some(alpha) => Some(add_pixels(file, size, &alpha, GREY, None)?),
        None => None,
    };
    let object = if picture.color().has_color() {
        add_pixels(file, size, picture.to_rgb8().as_raw(), RGB, mask)?
    } else {
        add_pixels(file, size, picture.to_luma8().as_raw(), GREY, mask)?
    };
    Ok(EmbeddedPicture::new(object, size, orientation))
}

/// How opaque each pixel is; `None` when all are.
fn alpha_channel(picture: &DynamicImage) -> Option<Vec<u8>> {
    if !picture.color().has_alpha() {
        return None;
    }
    let alpha: Vec<u8> = picture
        .to_rgba8()
        .pixels()
        .map(|pixel| pixel.0[3])
        .collect();
    alpha.iter().any(|value| *value != u8::MAX).then_some(alpha)
}

fn add_pixels<W: Write>(
    file: &mut ObjectFile<W>,
    size: (u32, u32),
    samples: &[u8],
    space: &[u8],
    mask: Option<Ref>,
) -> io::Result<Ref> {
    let packed = deflate_bytes(samples, Compression::default());
    file.add_object(|chunk, object| {
        let mut stream = chunk.image_xobject(object, &packed);
        stream.filter(Filter::FlateDecode);
        describe_image(&mut stream, size, space);
        if let Some(mask) = mask {
            stream.s_mask(mask);
        }
    })
}

fn describe_image(stream: &mut ImageXObject<'_>, (width, height): (u32, u32), space: &[u8]) {
    stream.width(pixel_count(width)).height(pixel_count(height));
    stream.color_space_name(Name(space)).bits_per_component(8);
}

/// A number of pixels, which a picture that could be decoded has fewer of than the type holds.
fn pixel_count(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

impl EmbeddedPicture {
    fn new(object: Ref, (width, height): (u32, u32), orientation: Orientation) -> Self {
        let (width, height) = (f64::from(width), f64::from(height));
        let is_turned = matches!(
            orientation,
            Orientation::Rotate90
                | Orientation::Rotate270
                | Orientation::Rotate90FlipH
                | Orientation::Rotate270FlipH
        );
        let (width, height) = if is_turned {
            (height, width)
        } else {
            (width, height)
        };
        Self {
            object,
            width,
            height,
            orientation,
        }
    }

    /// Draws it into the area.
    pub(crate) fn draw(
        &self,
        content: &mut Content,
        name: Name<'_>,
        area: PageRect,
        fit: ImageFit,
    ) {
        let (across, down) = (area.width / self.width, area.height / self.height);
        let scale = match fit {
            ImageFit::Cover => across.max(down),
            ImageFit::Contain => across.min(down),
        };
        let (width, height) = (self.width * scale, self.height * scale);
        let (x, y) = (
            area.x + (area.width - width) / 2.0,
            area.y + (area.height - height) / 2.0,
        );
        content.save_state();
        let [left, top, right, bottom] = [area.x, area.y, area.width, area.height].map(pdf_number);
        content
            .rect(left, top, right, bottom)
            .clip_nonzero()
            .end_path();
        content.transform([width, 0.0, 0.0, height, x, y].map(pdf_number));
        content.transform(orientation_matrix(self.orientation));
        content.x_object(name);
        content.restore_state();
    }
}

/// From the square of a PDF picture, whose first row is at 1, to one whose first row is at 0, as the camera was held.
fn orientation_matrix(orientation: Orientation) -> [f32; 6] {
    match orientation {
        Orientation::NoTransforms => [1.0, 0.0, 0.0, -1.0, 0.0, 1.0],
        Orientation::FlipHorizontal => [-1.0, 0.0, 0.0, -1.0, 1.0, 1.0],
        Orientation::Rotate180 => [-1.0, 0.0, 0.0, 1.0, 1.0, 0.0],
        Orientation::FlipVertical => [1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        Orientation::Rotate90FlipH => [0.0, 1.0, -1.0, 0.0, 1.0, 0.0],
        Orientation::Rotate90 => [0.0, 1.0, 1.0, 0.0, 0.0, 0.0],
        Orientation::Rotate270FlipH => [0.0, -1.0, 1.0, 0.0, 0.0, 1.0],
        Orientation::Rotate270 => [0.0, -1.0, -1.0, 0.0, 1.0, 1.0],
    }
}
