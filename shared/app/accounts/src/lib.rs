//! What members and operators do with a team: one function for each use case, which makes the change and its entry in the
//! team's activity log in one transaction. Whoever does more in the same transaction calls the form that ends in `_within`; the
//! transaction is the caller's to commit. Nothing is done by half: a process that dies has done all of it, or nothing.
//!
//! In reading order: [`team`], that there is one, how it pays, its settings → [`member`], who is in it, with which role and
//! password → [`sign_in`], how a member gets a session → [`key`], what opens its APIs → [`billing`], the money it pays in.
//!
//! Whether somebody may do what a function does is the caller's to know: the console has roles, and the command line is the
//! operator's.

pub mod billing;
pub mod key;
pub mod member;
pub mod sign_in;
pub mod team;

pub use billing::{
    BalanceCredit, credit_balance, credit_balance_within, request_top_up, withdraw_top_up,
};
pub use key::{
    CreatedTeamKey, NewTeamKey, ProvidedKey, create_key, create_key_within, provide_key_within,
    revoke_integration_key, revoke_key,
};
pub use member::{
    MemberError, MemberRoleChange, MemberSettings, NewMember, NewPassword, PasswordLink,
    add_member, change_password, choose_password, remove_member, reset_password, save_member,
    save_member_within, set_member_role, set_password,
};
pub use sign_in::{SignInSource, begin_session, record_failed_sign_in};
pub use team::{
    TeamError, TeamSetting, change_team_setting, change_team_setting_within, create_team,
    save_team_within,
};
