//! One team of a file into the database, all within the file's transaction.

use std::collections::{BTreeMap, HashMap};

use accounts::{
    BalanceCredit, MemberSettings, NewMember, NewTeamKey, TeamSetting, change_team_setting_within,
    credit_balance_within, provide_key_within, save_member_within, save_team_within,
};
use address::AddressListEntry;
use campaigns::SaveCampaignError;
use chrono::{DateTime, Utc};
use model::id::{CampaignId, DesignId, TeamId};
use model::key::KeyKind;
use store::{Actor, CampaignSettings, MemberRole, StepSettings, Transaction};

use super::DisplayName;
use super::applied::{
    AppliedCampaign, AppliedDesign, AppliedIntegration, AppliedKey, AppliedMember, AppliedTeam,
    AppliedTopUp,
};
use super::check::{check_conditions, iter_items};
use super::column::save_columns;
use super::endpoint::save_endpoints;
use super::error::{ApplyError, WithPlace};
use super::file::{
    CampaignSpec, DesignSpec, IntegrationSpec, MemberSpec, StatusSpec, StepSpec, TeamKeySpec,
    TeamSpec, TopUpSpec,
};
use super::pictures::list_image_links;
use designs::DesignContent;
use integrations::IntegrationSettings;

type ApplyResult<T> = std::result::Result<T, ApplyError>;

/// Columns of a team by their folded names.
type ColumnTypesByName = HashMap<String, audience::ColumnType>;

/// Makes or changes the team and everything in it.
pub(super) async fn save_team(
    transaction: &Transaction<'_>,
    place: &str,
    team: &TeamSpec,
    now: DateTime<Utc>,
) -> ApplyResult<AppliedTeam> {
    let text = |name: &Option<DisplayName>| name.as_ref().map(|name| name.as_str().to_owned());
    let wanted = store::Team {
        team_id: TeamId::new(),
        name: team.name.as_str().to_owned(),
        time_zone: team.time_zone,
        payment: team.payment,
        stripe_customer: text(&team.stripe_customer),
        stripe_payment_method: text(&team.stripe_payment_method),
    };
    // The team's row stays locked from here on: two files with the same team take turns.
    let actor = Actor::Operator;
    let saved = save_team_within(transaction, actor, &wanted, now).await;
    let team_id = saved.with_place(place)?.team_id;
    let settings = [
        team.idempotency_keys.map(TeamSetting::IdempotencyKeys),
        team.formula_keys_see_people
            .map(TeamSetting::FormulaKeysSeePeople),
    ];
    for setting in settings.into_iter().flatten() {
        change_team_setting_within(transaction, actor, team_id, setting, now)
            .await
            .with_place(place)?;
    }
    let save = TeamSaver {
        transaction,
        team_id,
        now,
    };
    let users = save.save_members(place, &team.users).await?;
    let columns = save_columns(transaction, team_id, place, &team.columns, now).await?;
    let designs = save.save_designs(place, &team.designs).await?;
    let campaigns = save.save_campaigns(place, team, &designs).await?;
    let integrations = save.save_integrations(place, &team.integrations).await?;
    let keys = save.save_keys(place, &team.keys).await?;
    let endpoints = save_endpoints(transaction, team_id, place, &team.endpoints, now).await?;
    let top_up = match &team.top_up {
        Some(top_up) => Some(save.save_top_up(&format!("{place}.top_up"), top_up).await?),
        None => None,
    };
    Ok(AppliedTeam {
        team_id,
        name: wanted.name,
        users,
        columns,
        designs,
        campaigns,
        integrations,
        keys,
        endpoints,
        top_up,
    })
}

/// Where what is saved belongs.
struct TeamSaver<'a> {
    transaction: &'a Transaction<'a>,
    team_id: TeamId,
    now: DateTime<Utc>,
}

impl TeamSaver<'_> {
    async fn save_members(
        &self,
        place: &str,
        users: &[MemberSpec],
    ) -> ApplyResult<Vec<AppliedMember>> {
        // Owners first: a file may hand a team from one to another, and it has an owner all the time.
        let mut in_turn: Vec<_> = iter_items(place, "users", users).enumerate().collect();
        in_turn.sort_by_key(|(_, (_, user))| user.role != MemberRole::Owner);
        let mut applied = BTreeMap::new();
        for (position, (place, user)) in in_turn {
            let email = user.email.as_str();
            let hash = self.new_password_hash(&place, user).await?;
            let settings = MemberSettings {
                member: NewMember {
                    team_id: self.team_id,
                    email: &user.email,
                    name: &user.name,
                    role: user.role,
                },
                password_hash: hash.as_deref(),
            };
            let user_id =
                save_member_within(self.transaction, Actor::Operator, &settings, self.now)
                    .await
                    .with_place(&place)?;
            applied.insert(
                position,
                AppliedMember {
                    user_id,
                    email: email.to_owned(),
                },
            );
        }
        Ok(applied.into_values().collect())
    }

    /// The hash to store; `None` when no password is given or the stored hash is of it already.
    async fn new_password_hash(
        &self,
        place: &str,
        user: &MemberSpec,
    ) -> ApplyResult<Option<String>> {
        let Some(password) = &user.password else {
            return Ok(None);
        };
        let stored = self
            .transaction
            .find_password_hash(self.team_id, user.email.as_str())
            .await
            .with_place(place)?;
        if stored.is_some_and(|stored| password.matches(&stored)) {
            return Ok(None);
        }
        if let Some(reason) = password.refusal_reason(user.email.as_str()) {
            return Err(ApplyError::refused(format!("{place}.password"), reason));
        }
        let hash = password.hash().map_err(|error| {
            ApplyError::refused(
                format!("{place}.password"),
                format!("cannot be hashed: {error}"),
            )
        })?;
        Ok(Some(hash))
    }

    async fn load_column_types(&self, place: &str) -> ApplyResult<ColumnTypesByName> {
        let columns = self
            .transaction
            .lock_columns(self.team_id)
            .await
            .with_place(place)?;
        Ok(columns
            .into_iter()
            .map(|column| (column.name_key, column.column_type))
            .collect())
    }

    async fn save_designs(
        &self,
        place: &str,
        designs: &[DesignSpec],
    ) -> ApplyResult<Vec<AppliedDesign>> {
        let mut applied = Vec::new();
        for (place, design) in iter_items(place, "designs", designs) {
            let name = design.name.as_str();
            let wanted = DesignContent {
                name,
                document: &design.document.0,
                is_ai_draft: design.ai_draft,
            };
            let operator = Actor::Operator;
            let saved = designs::save_design_within(
                self.transaction,
                operator,
                self.team_id,
                wanted,
                self.now,
            );
            let saved = saved.await.with_place(&place)?;
            let (design_id, version) = (saved.design_id, saved.version);
            let links = list_image_links(design.document.0.as_value());
            let name = name.to_owned();
            applied.push(AppliedDesign {
                design_id,
                name,
                version,
                links,
                unusable_pictures: Vec::new(),
            });
        }
        Ok(applied)
    }

    async fn save_campaigns(
        &self,
        place: &str,
        team: &TeamSpec,
        designs: &[AppliedDesign],
    ) -> ApplyResult<Vec<AppliedCampaign>> {
        let columns = self.load_column_types(place).await?;
        let mut applied = Vec::new();
        for (place, campaign) in iter_items(place, "campaigns", &team.campaigns) {
            if let Some(conditions) = &campaign.conditions {
                check_conditions(&place, conditions, |name| columns.get(name).copied())?;
            }
            applied.push(self.save_campaign(&place, campaign, designs).await?);
        }
        Ok(applied)
    }

    async fn save_campaign(
        &self,
        place: &str,
        campaign: &CampaignSpec,
        designs: &[AppliedDesign],
    ) -> ApplyResult<AppliedCampaign> {
        let campaign_id = match &campaign.id {
            Some(id) => id.clone(),
            None => {
                self.resolve_campaign_id(place, campaign.name.as_str())
                    .await?
            }
        };
        let mut steps = Vec::new();
        for (place, step) in iter_items(place, "steps", &campaign.steps) {
            steps.push(self.build_step(&place, step, designs).await?);
        }
        let settings = CampaignSettings {
            campaign_id: &campaign_id,
            name: campaign.name.as_str(),
            is_active: campaign.status == StatusSpec::Active,
            audience: campaign.audience.into(),
            neighborhood: campaign.neighborhood(),
            strictness: campaign.strictness.map(Into::into),
            budget_cents: campaign.budget.map(|budget| budget.cents()),
            resend_protection_days: campaign.resend_protection_days.map(i32::from),
            cancel_minutes: campaign.cancel_minutes.map(i32::from),
            area: campaign.area.as_ref().map(|area| area.0.as_str()),
            conditions: campaign.conditions.as_ref(),
            steps: &steps,
        };
        campaigns::save_campaign_within(
            self.transaction,
            Actor::Operator,
            self.team_id,
            &settings,
            self.now,
        )
        .await
        .with_place(place)?;
        let do_not_mail_added = self.save_do_not_mail(place, &campaign_id, campaign).await?;
        let name = campaign.name.as_str().to_owned();
        Ok(AppliedCampaign {
            campaign_id,
            name,
            do_not_mail_added,
        })
    }

    /// The id of the team's campaign of this name, or a new one.
    async fn resolve_campaign_id(&self, place: &str, name: &str) -> ApplyResult<CampaignId> {
        match campaigns::find_or_choose_id(self.transaction, self.team_id, name).await {
            Ok(id) => Ok(id),
            Err(SaveCampaignError::Store(error)) => Err(error).with_place(place),
            Err(error @ SaveCampaignError::NoFreeId) => {
                let reason = format!("{error}; give one as `id`");
                Err(ApplyError::refused(place, reason))
            }
        }
    }

    async fn build_step(
        &self,
        place: &str,
        step: &StepSpec,
        designs: &[AppliedDesign],
    ) -> ApplyResult<StepSettings> {
        let design_id = match &step.design {
            Some(name) => Some(
                self.find_design_id(&format!("{place}.design"), name.as_str(), designs)
                    .await?,
            ),
            None => None,
        };
        Ok(StepSettings {
            design_id,
            postage: step.postage,
            delay_days: i32::from(step.delay_days),
        })
    }

    /// A design of the file, or one that stands already.
    async fn find_design_id(
        &self,
        place: &str,
        name: &str,
        designs: &[AppliedDesign],
    ) -> ApplyResult<DesignId> {
        match designs.iter().find(|design| design.name == name) {
            Some(design) => Ok(design.design_id),
            None => self
                .transaction
                .find_design_by_name(self.team_id, name)
                .await
                .with_place(place),
        }
    }

    async fn save_do_not_mail(
        &self,
        place: &str,
        id: &CampaignId,
        campaign: &CampaignSpec,
    ) -> ApplyResult<u64> {
        let listed = campaign.do_not_mail.iter();
        let addresses: Vec<AddressListEntry> = listed.map(|spec| spec.0.clone()).collect();
        if addresses.is_empty() {
            return Ok(0);
        }
        campaigns::add_do_not_mail_within(
            self.transaction,
            Actor::Operator,
            self.team_id,
            id,
            &addresses,
            self.now,
        )
        .await
        .with_place(place)
    }

    async fn save_integrations(
        &self,
        place: &str,
        integrations: &[IntegrationSpec],
    ) -> ApplyResult<Vec<AppliedIntegration>> {
        let mut applied = Vec::new();
        for (place, integration) in iter_items(place, "integrations", integrations) {
            let wanted = IntegrationSettings {
                name: integration.name.as_str(),
                availability: integration.availability,
                removal_guard_percent: integration.removal_guard_percent.map(i16::from),
            };
            let saved = integrations::save_integration_within(
                self.transaction,
                Actor::Operator,
                self.team_id,
                wanted,
                self.now,
            );
            let saved = saved.await.with_place(&place)?;
            let mut keys = Vec::new();
            for (place, key) in iter_items(&place, "keys", &integration.keys) {
                let new = NewTeamKey {
                    team_id: self.team_id,
                    kind: KeyKind::Integration,
                    integration: Some(&saved),
                    name: &key.name,
                    chosen: key.key.as_ref(),
                    key_id: None,
                };
                keys.push(self.save_key(&place, new).await?);
            }
            applied.push(AppliedIntegration {
                integration_id: saved.integration_id,
                name: saved.name,
                keys,
            });
        }
        Ok(applied)
    }

    async fn save_keys(&self, place: &str, keys: &[TeamKeySpec]) -> ApplyResult<Vec<AppliedKey>> {
        let mut applied = Vec::new();
        for (place, key) in iter_items(place, "keys", keys) {
            let new = NewTeamKey {
                team_id: self.team_id,
                kind: key.kind.into(),
                integration: None,
                name: &key.name,
                chosen: key.key.as_ref(),
                key_id: None,
            };
            applied.push(self.save_key(&place, new).await?);
        }
        Ok(applied)
    }

    async fn save_key(&self, place: &str, new: NewTeamKey<'_>) -> ApplyResult<AppliedKey> {
        let provided = provide_key_within(self.transaction, Actor::Operator, &new, self.now).await;
        let provided = provided.with_place(place)?;
        Ok(AppliedKey {
            key_id: provided.key_id,
            kind: new.kind.as_str(),
            name: new.name.as_str().to_owned(),
            key: provided.made,
        })
    }

    async fn save_top_up(&self, place: &str, top_up: &TopUpSpec) -> ApplyResult<AppliedTopUp> {
        let credit = BalanceCredit {
            team_id: self.team_id,
            amount: top_up.amount,
            reference: &top_up.reference,
        };
        let booked = credit_balance_within(self.transaction, Actor::Operator, &credit, self.now)
            .await
            .with_place(place)?;
        Ok(AppliedTopUp {
            reference: top_up.reference.as_str().to_owned(),
            amount: top_up.amount,
            is_new: booked.is_new,
            balance_cents: booked.balance_cents,
        })
    }
}
