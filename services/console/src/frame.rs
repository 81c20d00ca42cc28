//! The shell of pages: the navigation, and what all of them show around their content.

use std::borrow::Cow;

use crate::format::TeamTimeZone;

/// What every page of a person who is signed in shows around its content.
pub(crate) struct PageFrame {
    /// The person's name.
    pub(crate) user_name: String,
    /// The team's name.
    pub(crate) team_name: String,
    /// The path of the part of the navigation that the page belongs to.
    pub(crate) part: &'static str,
    /// What has just been done, in a sentence.
    pub(crate) notice: Option<Cow<'static, str>>,
    /// Whether the person manages keys, endpoints, integrations and campaigns.
    pub(crate) is_manager: bool,
    /// Whether the person manages people and money.
    pub(crate) is_owner: bool,
    /// The zone of the team's times.
    pub(crate) zone: TeamTimeZone,
}

/// The parts of the navigation: their paths and names.
const PARTS: [(&str, &str); 10] = [
    ("/", "Home"),
    ("/campaigns", "Campaigns"),
    ("/designs", "Designs"),
    ("/address-book", "Address book"),
    ("/integrations", "Integrations"),
    ("/keys", "API keys"),
    ("/endpoints", "Webhooks"),
    ("/billing", "Billing"),
    ("/team", "Team"),
    ("/activity", "Activity"),
];

impl PageFrame {
    /// The parts of the navigation: their paths, their names, and whether the page belongs to them.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
        PARTS
            .map(|(path, name)| (path, name, path == self.part))
            .into_iter()
    }
}
