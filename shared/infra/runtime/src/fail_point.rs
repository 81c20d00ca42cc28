//! Named points at which a debug build can be told to die or to panic, so that tests can ask of each: what if we die here?

/// The point at which this process dies, from `PILLARBOX_FAIL_POINT`.
#[cfg(debug_assertions)]
static CHOSEN: std::sync::LazyLock<Option<String>> =
    std::sync::LazyLock::new(|| std::env::var("PILLARBOX_FAIL_POINT").ok());

/// Passes a point. In a debug build whose `PILLARBOX_FAIL_POINT` names it, the process ends at once, as if
/// killed: nothing is flushed, closed or answered. With `panic@` before the name it panics there, each time. In a release
/// build it does nothing.
#[inline]
pub fn fail_if_chosen(point: &'static str) {
    #[cfg(debug_assertions)]
    match CHOSEN.as_deref() {
        Some(chosen) if chosen == point => std::process::abort(),
        Some(chosen) => assert!(
            chosen.strip_prefix("panic@") != Some(point),
            "told to panic at {point}"
        ),
        None => {}
    }
    #[cfg(not(debug_assertions))]
    let _ = point;
}
