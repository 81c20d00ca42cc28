//! What every code means: the pages of `docs/codes` and the alerts' sections of the runbook, as they were when the program was
//! built.

use anyhow::bail;
use serde::Serialize;
use serde_json::json;

use crate::report::CommandReport;

/// The pages, in the order of their index. A code may have a section in several.
const PAGES: &[&str] = &[
    include_str!("../../../docs/codes/send-requests.md"),
    include_str!("../../../docs/codes/reasons.md"),
    include_str!("../../../docs/codes/warnings.md"),
    include_str!("../../../docs/codes/push-requests.md"),
    include_str!("../../../docs/codes/push-syncs.md"),
    include_str!("../../../docs/codes/records.md"),
    include_str!("../../../docs/codes/tools.md"),
    include_str!("../../../docs/codes/everywhere.md"),
    include_str!("../../../docs/operate/runbook/clients.md"),
    include_str!("../../../docs/operate/runbook/servers.md"),
    include_str!("../../../docs/operate/runbook/work.md"),
];

/// What the titles of the pages about codes begin with.
const TITLE: &str = "Codes: ";

/// How the names of alerts begin, which are the codes of the runbook.
const ALERT: &str = "Pillarbox";

/// What one page says of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CodeSection {
    /// The code, or the name of the alert.
    pub code: &'static str,
    /// Where the code stands, as the page's title says it.
    pub place: &'static str,
    /// What happened, whether anything was mailed or charged, what to do, and an example; Markdown.
    pub text: &'static str,
}

/// Every section of every page, in their order.
pub fn list_sections() -> Vec<CodeSection> {
    PAGES.iter().flat_map(|page| split_page(page)).collect()
}

/// What the pages say of a code, whatever its case.
pub fn find_sections(code: &str) -> Vec<CodeSection> {
    let mut sections = list_sections();
    sections.retain(|section| section.code.eq_ignore_ascii_case(code));
    sections
}

/// The code of an answer that a line tells of as `404 campaign_not_found: …`, when there is a section about it.
pub(crate) fn find_told_code(line: &str) -> Option<&'static str> {
    let mut words = line.split(' ').peekable();
    while let Some(word) = words.next() {
        let is_status = word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_digit());
        let told = words.peek().and_then(|next| next.strip_suffix(':'));
        if let Some(code) = told.filter(|_| is_status)
            && let Some(section) = find_sections(code).first()
        {
            return Some(section.code);
        }
    }
    None
}

/// Shows what is known of a code; without one, which codes there are.
///
/// # Errors
/// When there is no such code.
pub fn explain_code(code: Option<&str>) -> anyhow::Result<CommandReport> {
    let Some(code) = code else {
        return list_codes();
    };
    let sections = find_sections(code);
    if sections.is_empty() {
        bail!("there is no code {code}: `pillarbox explain` lists all of them");
    }
    let shown: Vec<String> = sections
        .iter()
        .map(|section| format!("{}: {}\n\n{}", section.code, section.place, section.text))
        .collect();
    CommandReport::new(&sections, shown.join("\n\n"))
}

fn list_codes() -> anyhow::Result<CommandReport> {
    let sections = list_sections();
    let mut shown = String::new();
    let mut place = "";
    for section in &sections {
        if section.place != place {
            place = section.place;
            shown.push_str(&format!("\n{place}\n"));
        }
        shown.push_str(&format!("  {}\n", section.code));
    }
    let value: Vec<_> = sections
        .iter()
        .map(|section| json!({"code": section.code, "place": section.place}))
        .collect();
    CommandReport::new(&value, shown.trim())
}

/// The sections of a page. A section ends at the next heading of any level; a title says where the codes below it stand.
fn split_page(page: &'static str) -> Vec<CodeSection> {
    let mut sections = Vec::new();
    let mut place = "";
    for (index, part) in page.split("\n#").enumerate() {
        let (heading, text) = part.split_once('\n').unwrap_or((part, ""));
        let name = heading.trim_start_matches('#').trim();
        if index == 0 || heading.starts_with(' ') {
            place = name.strip_prefix(TITLE).unwrap_or(name);
        } else if is_code(name) {
            let text = text.trim();
            sections.push(CodeSection {
                code: name,
                place,
                text,
            });
        }
    }
    sections
}

/// Whether a heading is a code, and not a question or a title.
fn is_code(heading: &str) -> bool {
    heading.starts_with(ALERT) && !heading.contains(' ')
        || heading.starts_with("-32")
        || !heading.is_empty()
            && heading
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_a_section_in_each_place_where_it_stands() {
        let places = |code| -> Vec<&str> {
            find_sections(code)
                .iter()
                .map(|section| section.place)
                .collect()
        };
        assert_eq!(
            places("INVALID_TYPE"),
            [
                "syncs, fields and contacts of the push API",
                "records of a push"
            ]
        );
        assert_eq!(
            places("missing_token_value"),
            ["why the fallback return address prints"]
        );
        assert_eq!(places("-32601"), ["MCP servers"]);
        assert_eq!(
            places("PillarboxSendsStuck"),
            ["Runbook: work that is late or uncertain"]
        );
        assert_eq!(places("no_such_code"), [""; 0]);
    }

    #[test]
    fn a_section_is_all_that_stands_below_its_heading() {
        let section = find_sections("campaign_not_found")[0];
        assert!(section.text.starts_with("Status 404."), "{}", section.text);
        assert!(section.text.ends_with("```"), "{}", section.text);
        assert_eq!(section.text.matches("**Happened.**").count(), 1);
    }

    #[test]
    fn a_lines_code_is_found_behind_its_status() {
        let told = "nothing was sent: 404 campaign_not_found: There is no campaign.";
        assert_eq!(find_told_code(told), Some("campaign_not_found"));
        for line in [
            "502 Bad Gateway, not in Pillarbox's words",
            "404 of 1000 rows: x",
            "timeout: x",
            "",
        ] {
            assert_eq!(find_told_code(line), None, "{line}");
        }
    }
}
