//! How much a tree of conditions may be.

/// The deepest nesting of groups: the root is at depth 0.
pub const MAX_DEPTH: usize = 8;
/// The most groups and conditions of one tree together.
pub const MAX_NODES: usize = 500;
/// The most values of one `is_one_of`.
pub const MAX_CHOICES: usize = 1000;
/// The most days of `in_last_days` and `in_next_days`: a hundred years.
pub const MAX_DAYS: u32 = 36_525;
/// The most days of `anniversary_in_next_days`, which then holds for every birthday.
pub const MAX_ANNIVERSARY_DAYS: u32 = 366;
