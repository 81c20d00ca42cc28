//! The people of a team: who they are and what they may do, and the settings of the team, for everybody to see and for
//! owners to change.

pub(crate) mod account;
pub(crate) mod link;
pub(crate) mod people;
pub(crate) mod settings;

/// The part of the navigation.
const PART: &str = "/team";
