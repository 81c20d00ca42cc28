//! Is it a picture? Only decoding tells.

use std::error::Error;
use std::io::Cursor;

use image::codecs::png::PngDecoder;
use image::{ImageDecoder, ImageError, ImageFormat, Limits};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::jpeg;

/// Pixels of one side at the most.
const SIDE_PIXELS: usize = 30_000;

/// Bytes that decoding may ask for beside the decoded picture: tables, a colour profile.
const TABLE_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes of a decoded pixel at the most: four channels of 16 bits.
const PIXEL_BYTES: u64 = 8;

/// The formats that print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PictureFormat {
    Png,
    Jpeg,
}

/// Decodes a picture to its last pixel and forgets it. Its size is read and judged before memory is taken for it. The
/// error is the end of a sentence about the picture.
pub(crate) fn decode_picture(content: &[u8], max_pixels: u64) -> Result<PictureFormat, String> {
    match image::guess_format(content) {
        Ok(ImageFormat::Png) => decode_png(content, max_pixels).map(|()| PictureFormat::Png),
        Ok(ImageFormat::Jpeg) => decode_jpeg(content, max_pixels).map(|()| PictureFormat::Jpeg),
        _ => Err("it is neither a PNG nor a JPEG picture".to_owned()),
    }
}

fn decode_png(content: &[u8], max_pixels: u64) -> Result<(), String> {
    let undecodable = |error: ImageError| match error {
        ImageError::Limits(_) => "it is too large to decode".to_owned(),
        error => damage_message(&error),
    };
    let decoder = PngDecoder::with_limits(Cursor::new(content), decoder_limits(max_pixels))
        .map_err(undecodable)?;
    let (width, height) = decoder.dimensions();
    check_size((width as usize, height as usize), max_pixels)?;
    let size = usize::try_from(decoder.total_bytes()).ok();
    let size = size.filter(|size| *size as u64 <= max_pixels * PIXEL_BYTES);
    let mut decoded = vec![0; size.ok_or("it is too large to decode")?];
    decoder.read_image(&mut decoded).map_err(undecodable)
}

/// Strictly: other decoders take half a picture for a whole one, and fill it up with grey.
fn decode_jpeg(content: &[u8], max_pixels: u64) -> Result<(), String> {
    let options = DecoderOptions::default().set_strict_mode(true);
    let options = options.set_max_width(usize::MAX).set_max_height(usize::MAX);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(content), options);
    decoder
        .decode_headers()
        .map_err(|error| damage_message(&error))?;
    check_size(decoder.dimensions().unwrap_or_default(), max_pixels)?;
    // In the fewest colours that lose nothing of the decoding.
    let colours = match decoder.input_colorspace() {
        Some(ColorSpace::Luma) => ColorSpace::Luma,
        _ => ColorSpace::RGB,
    };
    decoder.set_options(options.jpeg_set_out_colorspace(colours));
    decoder.decode().map_err(|error| damage_message(&error))?;
    if jpeg::has_end(content) {
        Ok(())
    } else {
        Err("it is cut off".to_owned())
    }
}

fn check_size((width, height): (usize, usize), max_pixels: u64) -> Result<(), String> {
    if width as u64 * height as u64 > max_pixels || width.max(height) > SIDE_PIXELS {
        return Err(format!(
            "it has {width} by {height} pixels; {max_pixels} in all may be used"
        ));
    }
    Ok(())
}

/// What a decoder says is for us.
fn damage_message(error: &(dyn Error + 'static)) -> String {
    tracing::debug!(error, "a picture cannot be decoded");
    "its file is damaged, or of a kind that cannot be read".to_owned()
}

fn decoder_limits(max_pixels: u64) -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(max_pixels * PIXEL_BYTES + TABLE_BYTES);
    limits
}

#[cfg(test)]
mod tests {
    use image::{DynamicImage, RgbaImage};
    use proptest::{prop_assert, prop_assert_eq};

    use super::*;

    const MAX_PIXELS: u64 = 10_000;

    fn encode_picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let picture = RgbaImage::from_fn(width, height, |x, y| {
            image::Rgba([x as u8, y as u8, 7, 255])
        });
        let picture = match format {
            ImageFormat::Jpeg => {
                DynamicImage::ImageRgb8(DynamicImage::ImageRgba8(picture).to_rgb8())
            }
            _ => DynamicImage::ImageRgba8(picture),
        };
        let mut content = Cursor::new(Vec::new());
        picture.write_to(&mut content, format).unwrap();
        content.into_inner()
    }

    /// A PNG of this size whose pixels are all zero, written without having them in memory: a bomb when large.
    fn encode_oversized_png(width: u32, height: u32) -> Vec<u8> {
        let mut content = encode_picture(1, 1, ImageFormat::Png);
        content[16..20].copy_from_slice(&width.to_be_bytes());
        content[20..24].copy_from_slice(&height.to_be_bytes());
        let sum = png_crc(&content[12..29]);
        content[29..33].copy_from_slice(&sum.to_be_bytes());
        content
    }

    /// The checksum of PNG's chunks (ISO 3309).
    fn png_crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
                if sum & 1 == 1 {
                    (sum >> 1) ^ 0xEDB8_8320
                } else {
                    sum >> 1
                }
            })
        })
    }

    #[test]
    fn a_picture_is_a_png_or_a_jpeg_that_decodes() {
        assert_eq!(
            decode_picture(&encode_picture(20, 10, ImageFormat::Png), MAX_PIXELS),
            Ok(PictureFormat::Png)
        );
        assert_eq!(
            decode_picture(&encode_picture(20, 10, ImageFormat::Jpeg), MAX_PIXELS),
            Ok(PictureFormat::Jpeg)
        );
        for other in [
            &b""[..],
            b"<svg/>",
            b"GIF89a",
            b"\x89PNG\r\n\x1a\n",
            b"\xff\xd8\xff\xe0",
        ] {
            assert!(decode_picture(other, MAX_PIXELS).is_err(), "{other:?}");
        }
        let whole = encode_picture(50, 50, ImageFormat::Png);
        let why = decode_picture(&whole[..whole.len() / 2], MAX_PIXELS).unwrap_err();
        assert!(why.contains("is damaged"), "{why}");
    }

    /// A JPEG that does not compress well.
    fn encode_photograph(colours: jpeg_encoder::ColorType, channels: usize) -> Vec<u8> {
        let samples: Vec<u8> = (0..64 * 64 * channels)
            .map(|at| (at.wrapping_mul(2_654_435_761) >> 7) as u8)
            .collect();
        let mut content = Vec::new();
        jpeg_encoder::Encoder::new(&mut content, 90)
            .encode(&samples, 64, 64, colours)
            .unwrap();
        content
    }

    #[test]
    fn a_jpeg_that_is_cut_off_anywhere_is_none() {
        let whole = encode_photograph(jpeg_encoder::ColorType::Rgb, 3);
        assert_eq!(decode_picture(&whole, MAX_PIXELS), Ok(PictureFormat::Jpeg));
        for end in (10..whole.len()).step_by(7) {
            assert!(
                decode_picture(&whole[..end], MAX_PIXELS).is_err(),
                "{end} of {}",
                whole.len()
            );
        }
        // What follows the end is not the picture's.
        assert!(
            decode_picture(&[&whole[..], b"a film of two seconds"].concat(), MAX_PIXELS).is_ok()
        );
    }

    #[test]
    fn jpegs_of_all_colours_are_pictures() {
        use jpeg_encoder::ColorType::{Cmyk, CmykAsYcck, Luma, Rgb, Ycbcr};
        for (colours, channels) in [(Luma, 1), (Rgb, 3), (Ycbcr, 3), (Cmyk, 4), (CmykAsYcck, 4)] {
            assert_eq!(
                decode_picture(&encode_photograph(colours, channels), MAX_PIXELS),
                Ok(PictureFormat::Jpeg),
                "{colours:?}"
            );
        }
    }

    #[test]
    fn a_bomb_is_refused_by_its_header() {
        let why = decode_picture(&encode_oversized_png(20_000, 20_000), MAX_PIXELS).unwrap_err();
        assert!(why.contains("20000 by 20000 pixels"), "{why}");
        assert!(decode_picture(&encode_oversized_png(u32::MAX >> 1, 1), MAX_PIXELS).is_err());
        assert!(decode_picture(&encode_picture(101, 100, ImageFormat::Png), MAX_PIXELS).is_err());
        assert!(decode_picture(&encode_picture(101, 100, ImageFormat::Jpeg), MAX_PIXELS).is_err());
        assert!(decode_picture(&encode_picture(100, 100, ImageFormat::Jpeg), MAX_PIXELS).is_ok());
    }

    #[test]
    fn fuzz_picture() {
        let samples = [
            encode_picture(16, 16, ImageFormat::Png),
            encode_picture(16, 16, ImageFormat::Jpeg),
            encode_photograph(jpeg_encoder::ColorType::CmykAsYcck, 4),
            encode_oversized_png(20_000, 20_000),
        ];
        let words: [&[u8]; 9] = [
            b"IHDR",
            b"IDAT",
            b"PLTE",
            b"iCCP",
            b"\xff\xd8",
            b"\xff\xd9",
            b"\xff\xda\x00\x02",
            b"\xff\xc2",
            b"\xff\xdd",
        ];
        fuzz::Target::new(samples).words(words).run(|content| {
            let found = decode_picture(content, MAX_PIXELS);
            // What is not there cannot be a picture, and what a picture is does not depend on what follows its end.
            prop_assert!(found.is_err() || content.len() > 50);
            prop_assert_eq!(decode_picture(content, MAX_PIXELS), found);
            Ok(())
        });
    }
}
