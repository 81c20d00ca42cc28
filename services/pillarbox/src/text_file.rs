//! Text files of bounded length.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};

/// Reads a text file, or whatever else the path names, such as `/dev/stdin`.
///
/// # Errors
/// When it cannot be read, is not UTF-8 or is longer than `most_bytes`.
pub(crate) fn read(path: &Path, most_bytes: usize) -> anyhow::Result<String> {
    let shown = path.display();
    // One byte past the limit is enough to see that it is too long.
    let limit = u64::try_from(most_bytes)?.saturating_add(1);
    let mut bytes = Vec::new();
    let length = File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
    if length.with_context(|| format!("cannot read {shown}"))? > most_bytes {
        bail!("{shown} is longer than {most_bytes} bytes");
    }
    String::from_utf8(bytes).with_context(|| format!("{shown} is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_file_is_refused_at_its_limit() {
        let error = read(Path::new("/dev/zero"), 1000).unwrap_err().to_string();
        assert_eq!(error, "/dev/zero is longer than 1000 bytes");
        assert_eq!(read(Path::new("/dev/null"), 0).unwrap(), "");
    }
}
