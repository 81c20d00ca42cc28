//! `campaign`.

use std::collections::BTreeMap;

use anyhow::Context;
use chrono::{DateTime, Utc};
use model::id::CampaignId;
use serde_json::{Value, json};
use store::{Actor, CampaignStep, CampaignSummary, Store};

use super::find_team;
use crate::command::CampaignCommand;
use crate::money::DollarAmount;
use crate::report::{CommandReport, build_table};

/// Does one of the commands on campaigns.
pub(crate) async fn run_command(
    store: &Store,
    command: CampaignCommand,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    match command {
        CampaignCommand::List { team } => list_campaigns(store, &team).await,
        CampaignCommand::Show { campaign_id } => show_campaign(store, &campaign_id).await,
        CampaignCommand::Pause { campaign_id } => {
            let team_id = store.find_campaign_team(&campaign_id).await?;
            campaigns::pause_campaign(store, Actor::Operator, team_id, &campaign_id, now).await?;
            report_status(&campaign_id, "paused")
        }
        CampaignCommand::Hold { campaign_id } => {
            let team_id = store.find_campaign_team(&campaign_id).await?;
            campaigns::hold_campaign(store, Actor::Operator, team_id, &campaign_id, now).await?;
            report_status(&campaign_id, "held")
        }
        CampaignCommand::Release { campaign_id } => {
            let team_id = store.find_campaign_team(&campaign_id).await?;
            campaigns::release_campaign(store, Actor::Operator, team_id, &campaign_id, now).await?;
            report_status(&campaign_id, "released")
        }
        CampaignCommand::Activate { campaign_id } => {
            let team_id = store.find_campaign_team(&campaign_id).await?;
            campaigns::activate_campaign(store, Actor::Operator, team_id, &campaign_id, now)
                .await?;
            report_status(&campaign_id, "active")
        }
    }
}

async fn list_campaigns(store: &Store, team: &str) -> anyhow::Result<CommandReport> {
    let campaigns = store
        .list_campaigns(find_team(store, team).await?.team_id)
        .await?;
    let mut rows = build_table(["Id", "Name", "Status", "Budget", "Committed"]);
    for campaign in &campaigns {
        let committed = DollarAmount(campaign.committed_cents).to_string();
        rows.add_row([
            &campaign.campaign_id,
            &campaign.name,
            &campaign.status,
            &format_budget(campaign),
            &committed,
        ]);
    }
    CommandReport::new(&json!({ "campaigns": campaigns }), rows.trim_fmt())
}

async fn show_campaign(store: &Store, campaign_id: &CampaignId) -> anyhow::Result<CommandReport> {
    let team_id = store.find_campaign_team(campaign_id).await?;
    let summaries = store.list_campaigns(team_id).await?;
    let summary = summaries
        .into_iter()
        .find(|summary| summary.campaign_id == campaign_id.as_str());
    let campaign = store.find_campaign(team_id, campaign_id).await?;
    let (summary, campaign) = summary
        .zip(campaign)
        .with_context(|| format!("the campaign {campaign_id} was not found"))?;
    let recipients: BTreeMap<_, _> = store
        .count_recipients_by_outcome(team_id, campaign_id)
        .await?
        .into_iter()
        .collect();
    let mut answer = serde_json::to_value(&summary)?;
    answer["steps"] = campaign.steps.iter().map(step_to_json).collect();
    answer["recipients"] = json!(recipients);
    CommandReport::new(
        &answer,
        format_summary(&summary, &campaign.steps, &recipients),
    )
}

fn step_to_json(step: &CampaignStep) -> Value {
    let design = step.design.as_ref().map(|design| &design.name);
    json!({ "step": step.step, "delay_days": step.delay_days, "postage": step.postage, "design": design })
}

fn format_summary(
    summary: &CampaignSummary,
    steps: &[CampaignStep],
    recipients: &BTreeMap<String, i64>,
) -> String {
    let committed = DollarAmount(summary.committed_cents);
    let mut step_rows = build_table(["Step", "Day", "Design", "Postage"]);
    for step in steps {
        let design = step
            .design
            .as_ref()
            .map_or("none yet", |design| design.name.as_str());
        step_rows.add_row([
            &step.step.to_string(),
            &step.delay_days.to_string(),
            design,
            step.postage.as_str(),
        ]);
    }
    let mut outcome_rows = build_table(["Recipients", "How many"]);
    for (outcome, count) in recipients {
        outcome_rows.add_row([outcome, &count.to_string()]);
    }
    format!(
        "{} {} is {}. Budget: {}; committed: {committed}.\n\n{}\n\n{}",
        summary.campaign_id,
        summary.name,
        summary.status,
        format_budget(summary),
        step_rows.trim_fmt(),
        outcome_rows.trim_fmt(),
    )
}

fn format_budget(summary: &CampaignSummary) -> String {
    summary.budget_cents.map_or("no limit".to_owned(), |cents| {
        DollarAmount(cents).to_string()
    })
}

fn report_status(campaign_id: &CampaignId, status: &str) -> anyhow::Result<CommandReport> {
    CommandReport::new(
        &json!({ "campaign_id": campaign_id, "status": status }),
        format!("The campaign {campaign_id} is {status}."),
    )
}
