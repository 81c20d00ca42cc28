//! Text files of bounded length.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads a text file, or whatever else the path names, such as `/dev/stdin`.
///
/// # Errors
/// When it cannot be read, is not UTF-8 or is longer than `most_bytes`.
pub(crate) fn read_text(path: &Path, most_bytes: usize) -> anyhow::Result<String> {
    let shown = path.display();
    // One byte past the limit is enough to see that it is too long.
    let limit = u64::try_from(most_bytes)?.saturating_add(1);
    let mut bytes = Vec::new();
    let length = File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
    if length.with_context(|| format!("cannot read {shown}"))? > most_bytes {
        bail!("{shown} is longer than {most_bytes} bytes");
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        bail!("{shown} is UTF-16, as its byte-order mark says: save it as UTF-8");
    }
    let text = String::from_utf8(bytes).with_context(|| format!("{shown} is not UTF-8"))?;
    // Some editors begin UTF-8 with a byte-order mark, which is no part of the text.
    Ok(text
        .strip_prefix(BYTE_ORDER_MARK)
        .map(str::to_owned)
        .unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_left_out_and_one_of_utf_16_is_told() {
        let file = std::env::temp_dir().join(format!("pillarbox-text-{}", std::process::id()));
        let read_bytes = |bytes: &[u8]| {
            std::fs::write(&file, bytes).unwrap();
            read_text(&file, 100)
        };
        let utf_8 = read_bytes(b"\xef\xbb\xbf{}");
        let utf_16 = read_bytes(b"\xff\xfe{\0}\0");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(utf_8.unwrap(), "{}");
        assert!(
            utf_16
                .unwrap_err()
                .to_string()
                .ends_with("save it as UTF-8")
        );
    }

    #[test]
    fn an_endless_file_is_refused_at_its_limit() {
        let error = read_text(Path::new("/dev/zero"), 1000)
            .unwrap_err()
            .to_string();
        assert_eq!(error, "/dev/zero is longer than 1000 bytes");
        assert_eq!(read_text(Path::new("/dev/null"), 0).unwrap(), "");
    }
}
