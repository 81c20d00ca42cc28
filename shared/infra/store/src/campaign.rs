//! Campaigns, their steps and their do-not-mail lists.

use address::VerificationStrictness;
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use contract::send::Postage;
use model::id::{CampaignId, DesignId, TeamId};
use serde::Serialize;
use serde_json::Value;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::pool::{Store, Transaction, statement_session};
use crate::statement_name::SqlStatement;
use crate::team::{PaymentKind, time_zone_from_row};

/// Where a campaign's audience comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AudienceSource {
    /// Requests of the Dynamic Audience API.
    Api,
    /// A list in the service; requests are refused.
    List,
}

impl AudienceSource {
    /// The name in the database and in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::List => "list",
        }
    }
}

/// How far a campaign is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CampaignStatus {
    /// Begun and never launched: requests are refused.
    Draft,
    /// Requests are taken and due steps mailed.
    Active,
    /// Requests are refused, and due steps wait.
    Paused,
}

impl CampaignStatus {
    /// The name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Active => "active",
            Self::Paused => "paused",
        }
    }
}

/// What becomes of mailpieces that are charged and not printed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CancellationSettings {
    /// Minutes from the charge in which a mailpiece can be cancelled; `None` is the installation's setting.
    pub minutes: Option<i32>,
    /// Whether an address that comes onto the do-not-mail list, or is removed, has its queued mailpieces cancelled.
    pub cancels_unwanted: bool,
}

impl Default for CancellationSettings {
    /// Of a new campaign.
    fn default() -> Self {
        Self {
            minutes: None,
            cancels_unwanted: true,
        }
    }
}

/// What makes a campaign Neighborhood Mail: its recipients are centers, the homes around them are mailed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeighborhoodSettings {
    /// Homes within it are found.
    pub radius_metres: i32,
    /// The nearest homes that a center may mail.
    pub homes_per_center: i32,
}

/// A campaign with what a send needs to know of it.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// Its public id.
    pub campaign_id: CampaignId,
    /// Its owner.
    pub team_id: TeamId,
    /// Its name.
    pub name: String,
    /// Whether it is active.
    pub is_active: bool,
    /// Where its audience comes from.
    pub audience: AudienceSource,
    /// Neighborhood Mail; `None` when the recipients themselves are mailed.
    pub neighborhood: Option<NeighborhoodSettings>,
    /// How much of an address must be confirmed; `None` lets the verifier choose.
    pub strictness: Option<VerificationStrictness>,
    /// Re-send protection in days; `None` when off.
    pub resend_protection_days: Option<i32>,
    /// GeoJSON of the map area.
    pub area: Option<String>,
    /// The tree of filter conditions.
    pub conditions: Option<Value>,
    /// The team's zone.
    pub time_zone: Tz,
    /// How the team pays.
    pub payment: PaymentKind,
    /// In order, from step 1.
    pub steps: Vec<CampaignStep>,
    /// How often its lists were added to.
    pub list_changes: i64,
    /// Minutes in which a card can be cancelled before it prints; `None` is the installation's setting.
    pub cancel_minutes: Option<i32>,
    /// Since when none of its queued cards prints; `None` when they do.
    pub held_at: Option<DateTime<Utc>>,
}

/// A step of a campaign.
#[derive(Debug, Clone)]
pub struct CampaignStep {
    /// From 1.
    pub step: i16,
    /// Days after step 1.
    pub delay_days: i32,
    /// How its cards mail.
    pub postage: Postage,
    /// `None` when none was chosen yet.
    pub design: Option<StepDesign>,
}

/// The design of a step, in its current version.
#[derive(Debug, Clone)]
pub struct StepDesign {
    /// Its id.
    pub design_id: DesignId,
    /// Its version.
    pub version: i32,
    /// Its name.
    pub name: String,
    /// Whether it is an AI draft that nobody has saved yet.
    pub is_ai_draft: bool,
    /// The document.
    pub document: Value,
}

/// What an owner sets of a campaign.
#[derive(Debug, Clone, Copy)]
pub struct CampaignSettings<'a> {
    /// Its public id.
    pub campaign_id: &'a CampaignId,
    /// Its name.
    pub name: &'a str,
    /// How far it is. One that is archived is restored by being active.
    pub status: CampaignStatus,
    /// Where its audience comes from.
    pub audience: AudienceSource,
    /// Neighborhood Mail; `None` mails the recipients themselves.
    pub neighborhood: Option<NeighborhoodSettings>,
    /// `None` lets the verifier choose.
    pub strictness: Option<VerificationStrictness>,
    /// Cents; `None` is no limit.
    pub budget_cents: Option<i64>,
    /// Days; `None` is off.
    pub resend_protection_days: Option<i32>,
    /// GeoJSON.
    pub area: Option<&'a str>,
    /// The tree.
    pub conditions: Option<&'a Value>,
    /// `None` keeps what stands.
    pub cancellation: Option<CancellationSettings>,
    /// In order, from step 1.
    pub steps: &'a [StepSettings],
}

/// What an owner has set of a campaign, as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredCampaignSettings {
    /// Its name.
    pub name: String,
    /// How far it is.
    pub status: CampaignStatus,
    /// Whether it is put away.
    pub is_archived: bool,
    /// Where its audience comes from.
    pub audience: AudienceSource,
    /// Neighborhood Mail; `None` mails the recipients themselves.
    pub neighborhood: Option<NeighborhoodSettings>,
    /// `None` lets the verifier choose.
    pub strictness: Option<VerificationStrictness>,
    /// Cents; `None` is no limit.
    pub budget_cents: Option<i64>,
    /// Days; `None` is off.
    pub resend_protection_days: Option<i32>,
    /// GeoJSON.
    pub area: Option<String>,
    /// The tree.
    pub conditions: Option<Value>,
    /// What becomes of mailpieces that are not printed yet.
    pub cancellation: CancellationSettings,
    /// In order, from step 1.
    pub steps: Vec<StepSettings>,
}

impl StoredCampaignSettings {
    /// All of it, to be saved for this campaign.
    pub fn as_wanted<'a>(&'a self, campaign_id: &'a CampaignId) -> CampaignSettings<'a> {
        CampaignSettings {
            campaign_id,
            name: &self.name,
            status: self.status,
            audience: self.audience,
            neighborhood: self.neighborhood,
            strictness: self.strictness,
            budget_cents: self.budget_cents,
            resend_protection_days: self.resend_protection_days,
            area: self.area.as_deref(),
            conditions: self.conditions.as_ref(),
            cancellation: Some(self.cancellation),
            steps: &self.steps,
        }
    }
}

/// What an owner sets of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepSettings {
    /// `None` while none is chosen.
    pub design_id: Option<DesignId>,
    /// How its cards mail.
    pub postage: Postage,
    /// Days after step 1.
    pub delay_days: i32,
}

/// A campaign, for lists.
#[derive(Debug, Clone, Serialize)]
pub struct CampaignSummary {
    /// Its public id.
    pub campaign_id: String,
    /// Its name.
    pub name: String,
    /// `draft`, `active` or `paused`; of one that is put away, `archived`.
    pub status: String,
    /// Cents; absent without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_cents: Option<i64>,
    /// What settled and pending charges take of the budget.
    pub committed_cents: i64,
}

/// A campaign's row while it is locked: nobody else can reserve for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockedCampaign {
    /// Whether it is active now.
    pub is_active: bool,
    /// Cents left of the budget; `None` without a limit.
    pub budget_left_cents: Option<i64>,
    /// How often its lists were added to. Where it is as before, what was read of them before still holds.
    pub list_changes: i64,
    /// Whether none of its cards is to print.
    pub is_held: bool,
}

const GLANCE: &str = "
    SELECT status = 'active', budget_cents - committed_cents, list_changes, held_at IS NOT NULL FROM campaigns
    WHERE team_id = $1 AND campaign_id = $2";

const LOCK: &str = "
    SELECT status = 'active', budget_cents - committed_cents, list_changes, held_at IS NOT NULL FROM campaigns
    WHERE team_id = $1 AND campaign_id = $2
    FOR NO KEY UPDATE";

const GET: &str = "
    SELECT campaign.name, campaign.status, campaign.audience, campaign.resend_protection_days, campaign.area,
        campaign.conditions, campaign.strictness, campaign.radius_metres, campaign.homes_per_center,
        campaign.list_changes, campaign.cancel_minutes, campaign.held_at, team.time_zone, team.payment
    FROM campaigns campaign JOIN teams team USING (team_id)
    WHERE campaign.team_id = $1 AND campaign.campaign_id = $2";

const STEPS: &str = "
    SELECT step.step, step.delay_days, step.postage, design.design_id, design.version, design.name,
        design.ai_draft, design.document
    FROM campaign_steps step
    LEFT JOIN designs design ON design.team_id = $1 AND design.design_id = step.design_id
    WHERE step.campaign_id = $2 ORDER BY step.step";

/// What an owner has set.
const SETTINGS: &str = "
    SELECT name, status, audience, radius_metres, homes_per_center, strictness, budget_cents, resend_protection_days, area,
        conditions, cancel_minutes, cancels_unwanted, archived_at IS NOT NULL AS is_archived
    FROM campaigns WHERE team_id = $1 AND campaign_id = $2";

const LOCK_SETTINGS: &str = "
    SELECT name, status, audience, radius_metres, homes_per_center, strictness, budget_cents, resend_protection_days, area,
        conditions, cancel_minutes, cancels_unwanted, archived_at IS NOT NULL AS is_archived
    FROM campaigns WHERE team_id = $1 AND campaign_id = $2 FOR NO KEY UPDATE";

const STEP_SETTINGS: &str = "SELECT design_id, postage, delay_days FROM campaign_steps WHERE campaign_id = $1 ORDER BY step";

impl Store {
    /// A team's campaign; `None` when the team has none with that id.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_campaign(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
    ) -> Result<Option<Campaign>> {
        let (get, steps) = (SqlStatement::at_caller(GET), SqlStatement::at_caller(STEPS));
        let (get_ready, steps_ready) = (
            self.ready_statement(get).await?,
            self.ready_statement(steps).await?,
        );
        let client = self.client().await?;
        let session = statement_session(&client);
        let parameters: [&(dyn ToSql + Sync); 2] = [&team_id.0, &campaign_id.as_str()];
        // Both go out together: one round trip.
        let (row, steps) = futures_util::future::try_join(
            session.query_row(get_ready, get, &parameters),
            session.query_rows(steps_ready, steps, &parameters),
        )
        .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Campaign {
            campaign_id: campaign_id.clone(),
            team_id,
            name: row.get("name"),
            is_active: row.get::<_, &str>("status") == "active",
            audience: audience_from_row(&row),
            neighborhood: neighborhood_from_row(&row),
            strictness: strictness_from_row(&row),
            resend_protection_days: row.get("resend_protection_days"),
            area: row.get("area"),
            conditions: row.get("conditions"),
            time_zone: time_zone_from_row(&row)?,
            payment: PaymentKind::parse(row.get("payment"))?,
            steps: steps.iter().map(step_from_row).collect::<Result<_>>()?,
            list_changes: row.get("list_changes"),
            cancel_minutes: row.get("cancel_minutes"),
            held_at: row.get("held_at"),
        }))
    }

    /// A team's campaigns, by name.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_campaigns(&self, team_id: TeamId) -> Result<Vec<CampaignSummary>> {
        let rows = self
            .query_rows(
                "SELECT campaign_id, name, CASE WHEN archived_at IS NULL THEN status ELSE 'archived' END,
                     budget_cents, committed_cents
                 FROM campaigns WHERE team_id = $1 ORDER BY name",
                &[&team_id.0],
            )
            .await?;
        Ok(rows
            .iter()
            .map(|row| CampaignSummary {
                campaign_id: row.get(0),
                name: row.get(1),
                status: row.get(2),
                budget_cents: row.get(3),
                committed_cents: row.get(4),
            })
            .collect())
    }

    /// What the owner has set of a team's campaign.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such campaign.
    pub async fn find_campaign_settings(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
    ) -> Result<StoredCampaignSettings> {
        let id = campaign_id.as_str();
        let row = self
            .query_row(SETTINGS, &[&team_id.0, &id])
            .await?
            .ok_or_else(|| StoreError::NotFound(format!("the campaign {campaign_id}")))?;
        let steps = self.query_rows(STEP_SETTINGS, &[&id]).await?;
        settings_from_rows(&row, &steps)
    }

    /// The team that a campaign belongs to.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such campaign.
    pub async fn find_campaign_team(&self, campaign_id: &CampaignId) -> Result<TeamId> {
        let sql = "SELECT team_id FROM campaigns WHERE campaign_id = $1";
        let row = self.query_row(sql, &[&campaign_id.as_str()]).await?;
        row.map(|row| TeamId(row.get(0)))
            .ok_or_else(|| StoreError::NotFound(format!("the campaign {campaign_id}")))
    }
}

fn audience_from_row(row: &Row) -> AudienceSource {
    if row.get::<_, &str>("audience") == "api" {
        AudienceSource::Api
    } else {
        AudienceSource::List
    }
}

fn strictness_from_row(row: &Row) -> Option<VerificationStrictness> {
    row.get::<_, Option<&str>>("strictness")
        .and_then(VerificationStrictness::from_name)
}

fn postage_from_row(row: &Row) -> Result<Postage> {
    Postage::from_name(row.get("postage"))
        .ok_or_else(|| StoreError::Corrupt("postage of a step".to_owned()))
}

fn neighborhood_from_row(row: &Row) -> Option<NeighborhoodSettings> {
    let radius_metres: Option<i32> = row.get("radius_metres");
    let homes_per_center: Option<i32> = row.get("homes_per_center");
    let (radius_metres, homes_per_center) = radius_metres.zip(homes_per_center)?;
    Some(NeighborhoodSettings {
        radius_metres,
        homes_per_center,
    })
}

fn settings_from_rows(row: &Row, steps: &[Row]) -> Result<StoredCampaignSettings> {
    let step = |row: &Row| {
        Ok(StepSettings {
            design_id: row.get::<_, Option<Uuid>>("design_id").map(DesignId),
            postage: postage_from_row(row)?,
            delay_days: row.get("delay_days"),
        })
    };
    Ok(StoredCampaignSettings {
        name: row.get("name"),
        status: match row.get("status") {
            "draft" => CampaignStatus::Draft,
            "active" => CampaignStatus::Active,
            _ => CampaignStatus::Paused,
        },
        is_archived: row.get("is_archived"),
        audience: audience_from_row(row),
        neighborhood: neighborhood_from_row(row),
        strictness: strictness_from_row(row),
        budget_cents: row.get("budget_cents"),
        resend_protection_days: row.get("resend_protection_days"),
        area: row.get("area"),
        conditions: row.get("conditions"),
        cancellation: CancellationSettings {
            minutes: row.get("cancel_minutes"),
            cancels_unwanted: row.get("cancels_unwanted"),
        },
        steps: steps.iter().map(step).collect::<Result<_>>()?,
    })
}

fn step_from_row(row: &Row) -> Result<CampaignStep> {
    let design_id: Option<Uuid> = row.get("design_id");
    Ok(CampaignStep {
        step: row.get("step"),
        delay_days: row.get("delay_days"),
        postage: postage_from_row(row)?,
        design: design_id.map(|design_id| StepDesign {
            design_id: DesignId(design_id),
            version: row.get("version"),
            name: row.get("name"),
            is_ai_draft: row.get("ai_draft"),
            document: row.get("document"),
        }),
    })
}

impl Transaction<'_> {
    /// The id of the team's campaign of that name; `None` when it has none.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_campaign_by_name(
        &self,
        team_id: TeamId,
        name: &str,
    ) -> Result<Option<CampaignId>> {
        let sql = "SELECT campaign_id FROM campaigns WHERE team_id = $1 AND name = $2";
        let Some(row) = self.query_row(sql, &[&team_id.0, &name]).await? else {
            return Ok(None);
        };
        let id = row.get::<_, &str>(0).parse();
        id.map(Some)
            .map_err(|_| StoreError::Corrupt("the id of a campaign".to_owned()))
    }

    /// Whether any team has a campaign with this id.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn campaign_exists(&self, campaign_id: &CampaignId) -> Result<bool> {
        let sql = "SELECT 1 FROM campaigns WHERE campaign_id = $1";
        Ok(self
            .query_row(sql, &[&campaign_id.as_str()])
            .await?
            .is_some())
    }

    /// What the owner has set of a team's campaign, with its row locked until the transaction ends; `None` when the team has none
    /// with that id.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn lock_campaign_settings(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
    ) -> Result<Option<StoredCampaignSettings>> {
        let id = campaign_id.as_str();
        let Some(row) = self.query_row(LOCK_SETTINGS, &[&team_id.0, &id]).await? else {
            return Ok(None);
        };
        let steps = self.query_rows(STEP_SETTINGS, &[&id]).await?;
        settings_from_rows(&row, &steps).map(Some)
    }

    /// The steps of a team's campaign with their designs, as [`Store::find_campaign`] gives them.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_campaign_steps(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
    ) -> Result<Vec<CampaignStep>> {
        let steps = self
            .query_rows(STEPS, &[&team_id.0, &campaign_id.as_str()])
            .await?;
        steps.iter().map(step_from_row).collect()
    }

    /// Makes the campaign or changes the team's one with that id, steps included. What it has spent stays.
    ///
    /// # Errors
    /// [`StoreError::Limit`] when the id belongs to another team.
    pub async fn save_campaign(
        &self,
        team_id: TeamId,
        wanted: &CampaignSettings<'_>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let id = wanted.campaign_id.as_str();
        let status = wanted.status.as_str();
        let cancellation = wanted.cancellation.unwrap_or_default();
        let saved = self
            .execute(
                "INSERT INTO campaigns AS stored (campaign_id, team_id, name, status, audience, budget_cents,
                     resend_protection_days, area, conditions, created_at, updated_at, strictness, kind, radius_metres,
                     homes_per_center, cancel_minutes, cancels_unwanted)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11,
                     CASE WHEN $12::int IS NULL THEN 'audience' ELSE 'neighborhood' END, $12, $13, $14, $15)
                 ON CONFLICT (campaign_id) DO UPDATE SET name = excluded.name, status = excluded.status,
                     audience = excluded.audience, budget_cents = excluded.budget_cents,
                     resend_protection_days = excluded.resend_protection_days, area = excluded.area,
                     conditions = excluded.conditions, updated_at = excluded.updated_at,
                     strictness = excluded.strictness, kind = excluded.kind, radius_metres = excluded.radius_metres,
                     homes_per_center = excluded.homes_per_center,
                     cancel_minutes = CASE WHEN $16 THEN excluded.cancel_minutes ELSE stored.cancel_minutes END,
                     cancels_unwanted = CASE WHEN $16 THEN excluded.cancels_unwanted ELSE stored.cancels_unwanted END,
                     archived_at = CASE WHEN excluded.status = 'active' THEN NULL ELSE stored.archived_at END
                 WHERE stored.team_id = excluded.team_id",
                &[
                    &id,
                    &team_id.0,
                    &wanted.name,
                    &status,
                    &wanted.audience.as_str(),
                    &wanted.budget_cents,
                    &wanted.resend_protection_days,
                    &wanted.area,
                    &wanted.conditions,
                    &now,
                    &wanted.strictness.map(VerificationStrictness::as_str),
                    &wanted.neighborhood.map(|neighborhood| neighborhood.radius_metres),
                    &wanted.neighborhood.map(|neighborhood| neighborhood.homes_per_center),
                    &cancellation.minutes,
                    &cancellation.cancels_unwanted,
                    &wanted.cancellation.is_some(),
                ],
            )
            .await?;
        if saved == 0 {
            return Err(StoreError::Limit(format!(
                "the campaign id {id} belongs to another team"
            )));
        }
        self.replace_campaign_steps(id, wanted.steps).await
    }

    async fn replace_campaign_steps(
        &self,
        campaign_id: &str,
        steps: &[StepSettings],
    ) -> Result<()> {
        self.execute(
            "DELETE FROM campaign_steps WHERE campaign_id = $1",
            &[&campaign_id],
        )
        .await?;
        let designs: Vec<Option<Uuid>> = steps
            .iter()
            .map(|step| step.design_id.map(|id| id.0))
            .collect();
        let postages: Vec<&str> = steps.iter().map(|step| step.postage.as_str()).collect();
        let delays: Vec<i32> = steps.iter().map(|step| step.delay_days).collect();
        self.execute(
            "INSERT INTO campaign_steps (campaign_id, step, design_id, postage, delay_days)
             SELECT $1, position, design_id, postage, delay_days
             FROM unnest($2::uuid[], $3::text[], $4::int[])
                 WITH ORDINALITY AS new (design_id, postage, delay_days, position)",
            &[&campaign_id, &designs, &postages, &delays],
        )
        .await?;
        Ok(())
    }

    /// Locks the campaign's row until the transaction ends. Whoever makes cards or releases budget holds it, so
    /// the duplicate guard and the budget that are read under it stay true.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such campaign.
    pub async fn lock_campaign(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
    ) -> Result<LockedCampaign> {
        self.query_campaign(LOCK, team_id, campaign_id).await
    }

    async fn query_campaign(
        &self,
        sql: &str,
        team_id: TeamId,
        campaign_id: &CampaignId,
    ) -> Result<LockedCampaign> {
        let row = self
            .query_row(sql, &[&team_id.0, &campaign_id.as_str()])
            .await?
            .ok_or_else(|| StoreError::NotFound(format!("the campaign {campaign_id}")))?;
        Ok(LockedCampaign {
            is_active: row.get(0),
            budget_left_cents: row.get(1),
            list_changes: row.get(2),
            is_held: row.get(3),
        })
    }

    /// Locks the campaign's row as [`Self::lock_campaign`] does, and notes that its lists are added to: whoever makes cards
    /// later sees it, whoever has made some before is through.
    pub(crate) async fn lock_campaign_lists(&self, campaign_id: &CampaignId) -> Result<()> {
        self.execute(
            "UPDATE campaigns SET list_changes = list_changes + 1 WHERE campaign_id = $1",
            &[&campaign_id.as_str()],
        )
        .await?;
        Ok(())
    }

    /// Reads what [`Self::lock_campaign`] reads without holding anybody up: it may change at any time.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the team has no such campaign.
    pub async fn read_campaign_unlocked(
        &self,
        team_id: TeamId,
        campaign_id: &CampaignId,
    ) -> Result<LockedCampaign> {
        self.query_campaign(GLANCE, team_id, campaign_id).await
    }

    /// Takes from the campaign's budget, or gives back when negative.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn commit_campaign_budget(&self, campaign_id: &CampaignId, cents: i64) -> Result<()> {
        self.execute(
            "UPDATE campaigns SET committed_cents = committed_cents + $2 WHERE campaign_id = $1",
            &[&campaign_id.as_str(), &cents],
        )
        .await?;
        Ok(())
    }
}
