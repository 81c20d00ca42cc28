//! Cards as a printer reads them, and the designs that they print with.

use chrono::NaiveDate;
use model::id::{CampaignId, DesignId, TeamId};
use model::scan::MailpieceCode;
use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::mailpiece_content::MailpieceContent;
use crate::pool::Store;

/// All that a card prints, and what a print shop needs to know of it.
#[derive(Debug, Clone)]
pub struct PrintMailpiece {
    /// Its place in its run, from 1; 0 when it is in none.
    pub position: i32,
    /// Its owner.
    pub team_id: TeamId,
    /// The card.
    pub mailpiece_id: Uuid,
    /// Its campaign.
    pub campaign_id: CampaignId,
    /// Whom it goes to; both names are empty for a home of Neighborhood Mail.
    pub first_name: String,
    /// See above.
    pub last_name: String,
    /// The delivery line.
    pub line_1: String,
    /// The second line; may be empty.
    pub line_2: String,
    /// City.
    pub city: String,
    /// Two letters.
    pub state: String,
    /// Five digits.
    pub zip: String,
    /// Four digits, when known.
    pub plus4: Option<String>,
    /// `standard` or `first_class`.
    pub postage: String,
    /// The day by which it mails.
    pub mail_by_date: NaiveDate,
    /// The design.
    pub design_id: DesignId,
    /// Its version at the time of the send.
    pub design_version: i32,
    /// What its QR codes say; none on cards from before there were codes.
    pub code: Option<MailpieceCode>,
    /// The recipient's part of what prints.
    pub content: MailpieceContent,
}

const COLUMNS: &str =
    "coalesce(print_position, 0) AS position, team_id, mailpiece_id, campaign_id, first_name, last_name,
    line_1, line_2, city, state, zip, plus4, postage, mail_by_date, design_id, design_version, code, content";

fn mailpiece(row: &Row) -> Result<PrintMailpiece> {
    let campaign_id: &str = row.get("campaign_id");
    Ok(PrintMailpiece {
        position: row.get("position"),
        team_id: TeamId(row.get("team_id")),
        mailpiece_id: row.get("mailpiece_id"),
        campaign_id: campaign_id
            .parse()
            .map_err(|_| StoreError::Corrupt("a campaign's id".to_owned()))?,
        first_name: row.get("first_name"),
        last_name: row.get("last_name"),
        line_1: row.get("line_1"),
        line_2: row.get("line_2"),
        city: row.get("city"),
        state: row.get("state"),
        zip: row.get("zip"),
        plus4: row.get("plus4"),
        postage: row.get("postage"),
        mail_by_date: row.get("mail_by_date"),
        design_id: DesignId(row.get("design_id")),
        design_version: row.get("design_version"),
        code: row
            .get::<_, Option<&str>>("code")
            .and_then(MailpieceCode::parse),
        content: serde_json::from_value(row.get("content"))?,
    })
}

impl Store {
    /// The cards of a run in its order, after position `after`; at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn list_print_mailpieces(
        &self,
        run_id: Uuid,
        after: i32,
        limit: i64,
    ) -> Result<Vec<PrintMailpiece>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM mailpieces WHERE print_run_id = $1 AND print_position > $2
             ORDER BY print_position LIMIT $3"
        );
        self.query_rows(&sql, &[&run_id, &after, &limit])
            .await?
            .iter()
            .map(mailpiece)
            .collect()
    }

    /// One card, by its code: whether it is queued, in a run or printed.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when no card has the code.
    pub async fn find_mailpiece_by_code(&self, code: &MailpieceCode) -> Result<PrintMailpiece> {
        let sql = format!("SELECT {COLUMNS} FROM mailpieces WHERE code = $1");
        let row = self.query_row(&sql, &[&code.as_str()]).await?;
        row.as_ref()
            .map(mailpiece)
            .transpose()?
            .ok_or_else(|| StoreError::NotFound("the card".to_owned()))
    }

    /// A version of a design's document.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none.
    pub async fn find_design_document(
        &self,
        team_id: TeamId,
        design_id: DesignId,
        version: i32,
    ) -> Result<Value> {
        let sql = "SELECT document FROM design_versions WHERE team_id = $1 AND design_id = $2 AND version = $3";
        let row = self
            .query_row(sql, &[&team_id.0, &design_id.0, &version])
            .await?;
        row.map(|row| row.get(0)).ok_or_else(|| {
            StoreError::NotFound(format!("version {version} of the design {design_id}"))
        })
    }
}
