//! Lists that are shown a page at a time, and the addresses of their pages.

/// Lines of a list on one page.
pub(crate) const LINES: i64 = 50;

/// Cuts off the line past a page, which only says that there are more. Then returns the page's last line, after which
/// the next page begins.
pub(crate) fn cut_page<T>(lines: &mut Vec<T>) -> Option<&T> {
    let is_more = lines.len() as i64 > LINES;
    lines.truncate(LINES as usize);
    lines.last().filter(|_| is_more)
}

/// The part of an address behind `?`.
pub(crate) fn url_query(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish()
}
