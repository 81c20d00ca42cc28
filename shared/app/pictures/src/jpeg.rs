//! The marks that a JPEG is divided by (ITU-T T.81, Annex B).

/// Begins every mark.
const MARK: u8 = 0xFF;

/// The end of the picture.
const END: u8 = 0xD9;

/// The beginning of a scan: pixels follow.
const SCAN: u8 = 0xDA;

/// Whether the file has the picture's end. What stands before the pixels, such as a smaller picture, does not count.
pub(crate) fn has_end(content: &[u8]) -> bool {
    // The mark of the beginning.
    let mut rest = content.get(2..).unwrap_or_default();
    loop {
        let [MARK, kind, ..] = *rest else {
            return false;
        };
        match kind {
            END => return true,
            MARK => rest = &rest[1..],
            _ => {
                let Some(length) = rest.get(2..4) else {
                    return false;
                };
                let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
                let Some(after) = rest.get(2 + length..) else {
                    return false;
                };
                rest = if kind == SCAN {
                    after_pixels(after)
                } else {
                    after
                };
            }
        }
    }
}

/// What follows the pixels, within which only 0 and the marks to begin anew stand behind a mark's first byte.
fn after_pixels(content: &[u8]) -> &[u8] {
    let mark = content
        .windows(2)
        .position(|pair| pair[0] == MARK && !matches!(pair[1], 0 | 0xD0..=0xD7));
    mark.map_or(&[], |at| &content[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_smaller_picture_is_not_the_end() {
        let thumbnail = [0xFF, 0xE1, 0, 4, 0xFF, 0xD9];
        let scan = [0xFF, 0xDA, 0, 2, 7, 0xFF, 0, 7, 0xFF, 0xD3, 7];
        let cut = [&[0xFF, 0xD8], &thumbnail[..], &scan].concat();
        assert!(!has_end(&cut));
        assert!(has_end(&[&cut[..], &[0xFF, 0xFF, 0xD9]].concat()));
        for nothing in [
            &b""[..],
            b"\xff",
            b"\xff\xd8",
            b"\xff\xd8\xff",
            b"\xff\xd8\xff\xe0\xff\xff",
        ] {
            assert!(!has_end(nothing), "{nothing:?}");
        }
    }
}
