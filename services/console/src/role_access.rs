//! What members of each role may use.

use store::MemberRole;

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteAccess {
    /// Also who is not signed in.
    Anyone,
    /// Everybody in a team.
    Member,
    /// Owners and Admins: those who manage keys, endpoints, integrations and campaigns.
    Manager,
    /// Owners only: people and money.
    Owner,
}

/// Whether a role may use what asks for this access.
pub(crate) fn role_allows(access: RouteAccess, role: MemberRole) -> bool {
    match access {
        RouteAccess::Anyone | RouteAccess::Member => true,
        RouteAccess::Manager => matches!(role, MemberRole::Owner | MemberRole::Admin),
        RouteAccess::Owner => role == MemberRole::Owner,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_look_managers_manage_and_owners_own() {
        let allowed = |access| {
            [MemberRole::Member, MemberRole::Admin, MemberRole::Owner]
                .map(|role| role_allows(access, role))
        };
        assert_eq!(allowed(RouteAccess::Member), [true, true, true]);
        assert_eq!(allowed(RouteAccess::Manager), [false, true, true]);
        assert_eq!(allowed(RouteAccess::Owner), [false, false, true]);
    }
}
