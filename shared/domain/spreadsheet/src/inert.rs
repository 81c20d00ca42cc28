//! Cells that stay text.

use std::borrow::Cow;

/// A cell as it may stand in a CSV file that a spreadsheet program opens: one that the program could take for a formula
/// gets an apostrophe before it. Quoting is the writer's.
pub fn escape_formula(cell: &str) -> Cow<'_, str> {
    if may_be_formula(cell) {
        Cow::Owned(format!("'{cell}"))
    } else {
        Cow::Borrowed(cell)
    }
}

/// Programs differ in what they skip before a formula, and some read the signs of East Asian keyboards as their ASCII
/// ones, so all of it counts.
fn may_be_formula(cell: &str) -> bool {
    cell.starts_with(['\t', '\r', '\n'])
        || cell
            .trim_start_matches(is_skipped)
            .starts_with(begins_formula)
}

/// White space, control characters, and characters without a width that a program may drop.
fn is_skipped(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || matches!(character, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// `=`, `+`, `-` and `@` with their full-width and small forms, and the signs that are typed in their place.
const fn begins_formula(character: char) -> bool {
    matches!(
        character,
        '=' | '+'
            | '-'
            | '@'
            | '＝'
            | '＋'
            | '－'
            | '＠'
            | '﹦'
            | '﹢'
            | '﹣'
            | '﹫'
            | '−'
            | '⁼'
            | '⁺'
            | '⁻'
            | '₌'
            | '₊'
            | '₋'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_begins_like_a_formula_is_made_text() {
        let cells = [
            "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\nplain", "＝1+1", "＋1",
            "－1", "＠A1", "﹣1", "−1",
        ];
        for cell in cells.into_iter().chain([
            " =1",
            "\u{feff}=1",
            "\u{200b}＝1",
            "\u{a0}\u{3000}@A1",
            "\u{b}=1",
        ]) {
            assert_eq!(escape_formula(cell), format!("'{cell}"));
        }
    }

    #[test]
    fn other_cells_stay_as_they_are() {
        for cell in [
            "",
            "1 Main St",
            " 7",
            "a=b",
            "O'Neil",
            "'=1",
            "—",
            "100%",
            "日本",
        ] {
            assert!(
                matches!(escape_formula(cell), Cow::Borrowed(text) if text == cell),
                "{cell:?}"
            );
        }
    }

    fn a_cell() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[ \t\r\n\u{feff}]{0,3}[=+@＝＋－＠﹦−-][^\u{0}]{0,8}",
            "[\",\r\n=＝ a-]{0,6}"
        ]
    }

    proptest! {
        #[test]
        fn no_cell_of_a_file_runs_and_every_cell_comes_back(cells in proptest::collection::vec(a_cell(), 1..5)) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            let written: Vec<_> = cells.iter().map(|cell| escape_formula(cell).into_owned()).collect();
            writer.write_record(&written).unwrap();
            let file = writer.into_inner().unwrap();
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&file[..]);
            let record = reader.records().next().unwrap().unwrap();
            prop_assert_eq!(record.len(), cells.len());
            for (read, cell) in record.iter().zip(&cells) {
                let first = read.chars().find(|character| !is_skipped(*character));
                prop_assert!(!first.is_some_and(begins_formula), "{:?}", read);
                prop_assert!(!read.starts_with(['\t', '\r', '\n']), "{:?}", read);
                let bare = if may_be_formula(cell) { read.strip_prefix('\'').unwrap() } else { read };
                prop_assert_eq!(bare, cell);
            }
        }
    }
}
