//! What members and the operator did, in words.

/// An action, as `key.created`; one that is not known keeps its name.
pub(super) fn action_name(action: &str) -> &str {
    match action {
        "key.created" => "Made an API key",
        "key.revoked" => "Revoked an API key",
        "design.created" => "Made a design",
        "design.saved" => "Saved a design",
        "design.restored" => "Went back to an earlier version of a design",
        "column.created" => "Made a column",
        "column.changed" => "Changed a column",
        "column.locked" => "Locked a column's type",
        "column.unlocked" => "Unlocked a column's type",
        "formula.saved" => "Saved a formula",
        "campaign.created" => "Made a campaign",
        "campaign.changed" => "Changed a campaign's settings",
        "campaign.activated" => "Activated a campaign",
        "campaign.paused" => "Paused a campaign",
        "campaign.held" => "Held a campaign's mailpieces",
        "campaign.released" => "Released a campaign's mailpieces",
        "campaign.launched" => "Launched a campaign",
        "campaign.archived" => "Archived a campaign",
        "campaign.restored" => "Restored a campaign",
        "campaign_area.changed" => "Changed a map area",
        "campaign_area.removed" => "Removed a map area",
        "campaign_conditions.changed" => "Changed filter conditions",
        "do_not_mail.added" => "Put on a do-not-mail list",
        "do_not_mail.removed" => "Took off a do-not-mail list",
        "campaign.returns_mailed" => {
            "Had a campaign mail addresses from which mailpieces came back"
        }
        "campaign.returns_spared" => {
            "Had a campaign spare addresses from which mailpieces came back"
        }
        "returned_address.removed" => {
            "Let an address be mailed again from which a mailpiece came back"
        }
        "recipient.removed" => "Removed a recipient",
        "recipient.downloaded" => "Downloaded a campaign's recipients",
        "integration.created" => "Made an integration",
        "integration.paused" => "Paused an integration",
        "integration.resumed" => "Resumed an integration",
        "integration.disconnected" => "Disconnected an integration",
        "integration.removed" => "Removed an integration",
        "integration.guarded" => "Set a removal guard",
        "integration.unguarded" => "Switched a removal guard off",
        "integration.mapped" => "Changed the columns that fields fill",
        "integration.released" => "Left the columns that fields fill to the client",
        "integration.removal_undone" => "Took a removal back",
        "sync.downloaded" => "Downloaded what a sync rejected or dropped",
        "endpoint.created" => "Added an endpoint",
        "endpoint.changed" => "Changed an endpoint's campaigns",
        "endpoint.events_changed" => "Changed the events that an endpoint hears of",
        "endpoint.paused" => "Paused an endpoint",
        "endpoint.resumed" => "Resumed an endpoint",
        "endpoint.deleted" => "Deleted an endpoint",
        "endpoint.signed" => "Signed an endpoint's deliveries with a new key",
        "endpoint.unsigned" => "Stopped signing an endpoint's deliveries",
        "endpoint.tested" => "Sent a test event",
        "endpoint.redelivered" => "Sent an event again",
        "endpoint.replayed" => "Sent all again that had failed",
        "person.added" => "Added a person",
        "person.removed" => "Removed a person",
        "person.role_changed" => "Changed a role",
        "person.renamed" => "Changed a name",
        "person.password_set" => "Set a password",
        "person.password_changed" => "Changed the own password",
        "person.password_reset" => "Reset a password",
        "person.password_chosen" => "Chose a password by a link",
        "team.created" => "Made the team",
        "team.changed" => "Changed the time zone or the payment",
        "team.keys_honoured" => "Had Idempotency-Key honoured on sends",
        "team.keys_ignored" => "Had Idempotency-Key ignored on sends",
        "team.people_shown" => "Let Formulas only keys see people as they are",
        "team.people_masked" => "Had people masked for Formulas only keys",
        "sign_in.succeeded" => "Signed in",
        "sign_in.failed" => "Could not sign in: the password was wrong",
        "top_up.requested" => "Asked for a top-up",
        "top_up.withdrawn" => "Withdrew a top-up",
        "balance.credited" => "Added to the balance",
        other => other,
    }
}

/// What actions are about: their part before the dot.
pub(super) fn kind_name(kind: &str) -> &str {
    match kind {
        "key" => "API keys",
        "design" => "Designs",
        "column" => "Columns",
        "formula" => "Formulas",
        "campaign" => "Campaigns",
        "campaign_area" => "Map areas",
        "campaign_conditions" => "Filter conditions",
        "do_not_mail" => "Do-not-mail lists",
        "recipient" => "Recipients",
        "returned_address" => "Returned mail",
        "integration" => "Integrations",
        "sync" => "Syncs",
        "endpoint" => "Webhooks",
        "person" => "People",
        "team" => "Team settings",
        "sign_in" => "Sign-ins",
        "top_up" => "Top-ups",
        "balance" => "Balance",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    /// The Rust files of a folder.
    fn sources(folder: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files.extend(sources(&path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
        files
    }

    /// Whether a text is the name of an action, as the table wants it: noun and past participle.
    fn is_action(text: &str) -> bool {
        let is_word = |word: &str| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        };
        text.split_once('.')
            .is_some_and(|(noun, done)| is_word(noun) && is_word(done))
    }

    #[test]
    fn every_action_that_a_use_case_records_is_told_in_words() {
        let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/app");
        let mut actions = 0;
        for path in sources(&app) {
            let text = std::fs::read_to_string(&path).unwrap();
            if !text.contains("record_activity(") {
                continue;
            }
            for recorded in text.split('"').filter(|part| is_action(part)) {
                actions += 1;
                let (noun, _) = recorded.split_once('.').unwrap();
                assert_ne!(action_name(recorded), recorded, "{}", path.display());
                assert_ne!(kind_name(noun), noun, "{}", path.display());
            }
        }
        assert!(actions > 20, "{actions}");
    }
}
