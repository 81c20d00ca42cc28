//! Is it a picture? Only decoding tells.

use std::io::Cursor;

use image::{ImageDecoder, ImageFormat, ImageReader, Limits};

/// Pixels of one side at the most.
const SIDE_PIXELS: u32 = 30_000;

/// Bytes that decoding may ask for beside the decoded picture: tables, a colour profile.
const TABLE_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes of a decoded pixel at the most: four channels of 16 bits.
const PIXEL_BYTES: u64 = 8;

/// The formats that print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Png,
    Jpeg,
}

/// Decodes a picture and forgets it. Its size is read and judged before memory is taken for it. The error is the end of
/// a sentence about the picture.
pub(crate) fn examine(content: &[u8], max_pixels: u64) -> Result<Format, String> {
    let format = match image::guess_format(content) {
        Ok(ImageFormat::Png) => Format::Png,
        Ok(ImageFormat::Jpeg) => Format::Jpeg,
        _ => return Err("it is neither a PNG nor a JPEG picture".to_owned()),
    };
    let undecodable = |error: image::ImageError| format!("it cannot be decoded: {error}");
    let mut reader = ImageReader::with_format(
        Cursor::new(content),
        match format {
            Format::Png => ImageFormat::Png,
            Format::Jpeg => ImageFormat::Jpeg,
        },
    );
    reader.limits(limits(max_pixels));
    let decoder = reader.into_decoder().map_err(undecodable)?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels > max_pixels || width.max(height) > SIDE_PIXELS {
        return Err(format!("it has {width} by {height} pixels; {max_pixels} in all may be used"));
    }
    let size = usize::try_from(decoder.total_bytes()).ok();
    let size = size.filter(|size| *size as u64 <= max_pixels * PIXEL_BYTES);
    let mut decoded = vec![0; size.ok_or("it is too large to decode")?];
    decoder.read_image(&mut decoded).map_err(undecodable)?;
    Ok(format)
}

fn limits(max_pixels: u64) -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(max_pixels * PIXEL_BYTES + TABLE_BYTES);
    limits
}

#[cfg(test)]
mod tests {
    use image::{DynamicImage, RgbaImage};
    use proptest::prelude::*;

    use super::*;

    const MAX_PIXELS: u64 = 10_000;

    fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let picture = RgbaImage::from_fn(width, height, |x, y| image::Rgba([x as u8, y as u8, 7, 255]));
        let picture = match format {
            ImageFormat::Jpeg => DynamicImage::ImageRgb8(DynamicImage::ImageRgba8(picture).to_rgb8()),
            _ => DynamicImage::ImageRgba8(picture),
        };
        let mut content = Cursor::new(Vec::new());
        picture.write_to(&mut content, format).unwrap();
        content.into_inner()
    }

    /// A PNG of this size whose pixels are all zero, written without having them in memory: a bomb when large.
    fn declared(width: u32, height: u32) -> Vec<u8> {
        let mut content = picture(1, 1, ImageFormat::Png);
        content[16..20].copy_from_slice(&width.to_be_bytes());
        content[20..24].copy_from_slice(&height.to_be_bytes());
        let sum = crc(&content[12..29]);
        content[29..33].copy_from_slice(&sum.to_be_bytes());
        content
    }

    /// The checksum of PNG's chunks (ISO 3309).
    fn crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
                if sum & 1 == 1 { (sum >> 1) ^ 0xEDB8_8320 } else { sum >> 1 }
            })
        })
    }

    #[test]
    fn a_picture_is_a_png_or_a_jpeg_that_decodes() {
        assert_eq!(examine(&picture(20, 10, ImageFormat::Png), MAX_PIXELS), Ok(Format::Png));
        assert_eq!(examine(&picture(20, 10, ImageFormat::Jpeg), MAX_PIXELS), Ok(Format::Jpeg));
        for other in [&b""[..], b"<svg/>", b"GIF89a", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"] {
            assert!(examine(other, MAX_PIXELS).is_err(), "{other:?}");
        }
        let whole = picture(50, 50, ImageFormat::Png);
        let why = examine(&whole[..whole.len() / 2], MAX_PIXELS).unwrap_err();
        assert!(why.contains("cannot be decoded"), "{why}");
    }

    #[test]
    fn a_bomb_is_refused_by_its_header() {
        let why = examine(&declared(20_000, 20_000), MAX_PIXELS).unwrap_err();
        assert!(why.contains("20000 by 20000 pixels"), "{why}");
        assert!(examine(&declared(u32::MAX >> 1, 1), MAX_PIXELS).is_err());
        assert!(examine(&picture(101, 100, ImageFormat::Png), MAX_PIXELS).is_err());
        assert!(examine(&picture(101, 100, ImageFormat::Jpeg), MAX_PIXELS).is_err());
        assert!(examine(&picture(100, 100, ImageFormat::Jpeg), MAX_PIXELS).is_ok());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(at in 0_usize..400, byte: u8, is_png: bool) {
            let format = if is_png { ImageFormat::Png } else { ImageFormat::Jpeg };
            let mut content = picture(16, 16, format);
            let at = at % content.len();
            content[at] = byte;
            let _ = examine(&content, MAX_PIXELS);
        }
    }
}
