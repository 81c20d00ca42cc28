//! What a file made, for the one who applied it.

use model::id::{ApiKeyId, CampaignId, DesignId, EndpointId, IntegrationId, MemberId, TeamId};
use serde::Serialize;

use crate::money::{DollarAmount, Money};
use crate::report::{CommandReport, build_table};
use secret::KeyText;

/// What stands after a file was applied.
#[derive(Debug, Clone, Serialize)]
pub struct AppliedFile {
    /// In the order of the file.
    pub teams: Vec<AppliedTeam>,
}

/// A team as it stands; lists in the order of the file.
#[derive(Debug, Clone, Serialize)]
pub struct AppliedTeam {
    /// Its id.
    pub team_id: TeamId,
    /// Its name.
    pub name: String,
    /// The people of the file.
    pub users: Vec<AppliedMember>,
    /// Names of the columns of the file.
    pub columns: Vec<String>,
    /// The designs of the file.
    pub designs: Vec<AppliedDesign>,
    /// The campaigns of the file.
    pub campaigns: Vec<AppliedCampaign>,
    /// The integrations of the file.
    pub integrations: Vec<AppliedIntegration>,
    /// The keys of the file.
    pub keys: Vec<AppliedKey>,
    /// The webhook endpoints of the file.
    pub endpoints: Vec<AppliedEndpoint>,
    /// The top-up of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_up: Option<AppliedTopUp>,
}

/// A person.
#[derive(Debug, Clone, Serialize)]
pub struct AppliedMember {
    /// Its id.
    pub user_id: MemberId,
    /// Lower-case.
    pub email: String,
}

/// A design.
#[derive(Debug, Clone, Serialize)]
pub struct AppliedDesign {
    /// Its id.
    pub design_id: DesignId,
    /// Its name.
    pub name: String,
    /// The current version; a document that is no different makes no new one.
    pub version: i32,
    /// The links of its own pictures.
    #[serde(skip)]
    pub links: Vec<String>,
    /// Sentences about those of its own pictures that cannot be used now. A send tries them again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unusable_pictures: Vec<String>,
}

/// A campaign.
#[derive(Debug, Clone, Serialize)]
pub struct AppliedCampaign {
    /// Its public id, also when the file left it to us.
    pub campaign_id: CampaignId,
    /// Its name.
    pub name: String,
    /// How many addresses were put on its do-not-mail list by this file for the first time.
    pub do_not_mail_added: u64,
}

/// An integration.
#[derive(Debug, Clone, Serialize)]
pub struct AppliedIntegration {
    /// Its public id.
    pub integration_id: IntegrationId,
    /// Its name.
    pub name: String,
    /// Its keys of the file.
    pub keys: Vec<AppliedKey>,
}

/// A key.
#[derive(Debug, Clone, Serialize)]
pub struct AppliedKey {
    /// Its row.
    pub key_id: ApiKeyId,
    /// `full_access`, `formulas` or `integration`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// The key itself, only when it was made now: it cannot be shown again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyText>,
}

/// A webhook endpoint.
#[derive(Debug, Clone, Serialize)]
pub struct AppliedEndpoint {
    /// Its id.
    pub endpoint_id: EndpointId,
    /// Its URL.
    pub url: String,
    /// The key that signs its deliveries, only when it was made now: it cannot be shown again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// A top-up.
#[derive(Debug, Clone, Serialize)]
pub struct AppliedTopUp {
    /// The operator's reference.
    pub reference: String,
    /// What it adds, in cents.
    #[serde(rename = "amount_cents")]
    pub amount: Money,
    /// False when the reference was booked before, so that nothing was added now.
    pub is_new: bool,
    /// The team's balance now.
    pub balance_cents: i64,
}

impl AppliedFile {
    /// For people and for programs.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn report(&self) -> anyhow::Result<CommandReport> {
        let mut rows = build_table(["What", "Name", "Id", "Note"]);
        for team in &self.teams {
            for row in team.rows() {
                rows.add_row(row);
            }
        }
        CommandReport::new(self, rows.trim_fmt())
    }
}

impl AppliedTeam {
    fn rows(&self) -> Vec<[String; 4]> {
        let row = |what: &str, name: &str, id: String, note: String| {
            [what.to_owned(), name.to_owned(), id, note]
        };
        let none = String::new;
        let mut rows = vec![row("Team", &self.name, self.team_id.to_string(), none())];
        rows.extend(
            self.users
                .iter()
                .map(|user| row("User", &user.email, user.user_id.to_string(), none())),
        );
        rows.extend(
            self.columns
                .iter()
                .map(|column| row("Column", column, none(), none())),
        );
        rows.extend(self.designs.iter().map(|design| {
            let version = format!("version {}", design.version);
            let notes = std::iter::once(&version).chain(&design.unusable_pictures);
            let notes: Vec<&str> = notes.map(String::as_str).collect();
            row(
                "Design",
                &design.name,
                design.design_id.to_string(),
                notes.join("\n"),
            )
        }));
        rows.extend(self.campaigns.iter().map(|campaign| {
            let added = campaign.do_not_mail_added;
            let note = if added > 0 {
                format!("do-not-mail addresses added: {added}")
            } else {
                none()
            };
            row(
                "Campaign",
                &campaign.name,
                campaign.campaign_id.to_string(),
                note,
            )
        }));
        for integration in &self.integrations {
            rows.push(row(
                "Integration",
                &integration.name,
                integration.integration_id.to_string(),
                none(),
            ));
            rows.extend(integration.keys.iter().map(AppliedKey::row));
        }
        rows.extend(self.keys.iter().map(AppliedKey::row));
        rows.extend(self.endpoints.iter().map(|endpoint| {
            let note = endpoint
                .secret
                .as_ref()
                .map(|secret| format!("{secret}\nwill not be shown again"));
            row(
                "Endpoint",
                &endpoint.url,
                endpoint.endpoint_id.to_string(),
                note.unwrap_or_default(),
            )
        }));
        rows.extend(self.top_up.iter().map(|top_up| {
            let what = if top_up.is_new {
                top_up.amount.to_string()
            } else {
                "booked before".to_owned()
            };
            let note = format!("{what}; balance {}", DollarAmount(top_up.balance_cents));
            row("Top-up", &top_up.reference, none(), note)
        }));
        rows
    }
}

impl AppliedKey {
    fn row(&self) -> [String; 4] {
        let note = match &self.key {
            Some(text) => format!("{}\nwill not be shown again", text.reveal()),
            None => "made before".to_owned(),
        };
        [
            "Key".to_owned(),
            self.name.clone(),
            self.key_id.to_string(),
            note,
        ]
    }
}
