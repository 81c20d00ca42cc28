//! What a JPEG says of its colours.

/// What its header says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct JpegHeader {
    /// 1 grey, 3 for a screen, 4 inks.
    pub(crate) components: u8,
    /// Whether it is marked as one of Adobe's, whose inks are inverted.
    pub(crate) is_adobe: bool,
}

impl JpegHeader {
    /// Reads it as far as the pixels; `None` when that is not possible (ITU-T T.81, Annex B).
    pub(crate) fn parse(content: &[u8]) -> Option<Self> {
        let mut header = Self::default();
        let mut rest = content.get(2..)?;
        loop {
            let &[0xFF, kind, ..] = rest else { return None };
            if kind == 0xFF {
                rest = &rest[1..];
                continue;
            }
            let length = rest.get(2..4)?;
            let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
            let segment = rest.get(4..2 + length)?;
            match kind {
                // The beginning of the pixels: all is told.
                0xDA => return (header.components > 0).then_some(header),
                0xEE => header.is_adobe |= segment.starts_with(b"Adobe"),
                // Frames of all kinds; the three that are left out among them are tables.
                0xC0..=0xCF if !matches!(kind, 0xC4 | 0xC8 | 0xCC) => {
                    header.components = *segment.get(5)?
                }
                _ => {}
            }
            rest = &rest[2 + length..];
        }
    }
}

#[cfg(test)]
mod tests {
    use jpeg_encoder::{ColorType, Encoder};

    use super::*;

    #[test]
    fn the_header_tells_the_inks_and_whose_they_are() {
        for (colours, channels, components) in [
            (ColorType::Luma, 1, 1),
            (ColorType::Rgb, 3, 3),
            (ColorType::Cmyk, 4, 4),
            (ColorType::CmykAsYcck, 4, 4),
        ] {
            let mut content = Vec::new();
            Encoder::new(&mut content, 90)
                .encode(&vec![9; 64 * channels], 8, 8, colours)
                .unwrap();
            let header = JpegHeader::parse(&content).unwrap();
            assert_eq!(
                header,
                JpegHeader {
                    components,
                    is_adobe: components == 4
                },
                "{colours:?}"
            );
            for end in 0..content.len().min(150) {
                let _ = JpegHeader::parse(&content[..end]);
            }
        }
        assert_eq!(JpegHeader::parse(b"\xff\xd8\xff\xda\0\x02"), None);
        assert_eq!(JpegHeader::parse(b"\xff\xd8\xff\xe0\0\0"), None);
    }
}
