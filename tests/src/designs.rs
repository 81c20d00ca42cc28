//! Designs for the tests' campaign, and what its cards print.

use serde_json::{Value, json};
use store::{PictureOutcome, PictureRow, PictureUse};

use crate::stack::{TestStack, wait_until};

/// A postcard with these elements on its front.
pub fn postcard_design(front: &[Value]) -> Value {
    json!({"product": "postcard_4x6", "front": {"elements": front}, "back": {"elements": []}})
}

/// An element with the recipient's picture from the field `photo`; `default` is a link or null.
pub fn variable_picture(default: Value) -> Value {
    json!({"id": "photo", "kind": "image", "area": {"x": 20, "y": 20, "width": 100, "height": 80},
        "source": {"variable": {"field": "Photo", "default": default}}})
}

/// An element with the picture at a link.
pub fn fixed_picture(link: &str) -> Value {
    json!({"id": "logo", "kind": "image", "area": {"x": 200, "y": 20, "width": 60, "height": 60},
        "source": {"fixed": {"link": link}}})
}

/// A text box of 100 by 20 points on the front, in 12 points, that does not shrink.
pub fn text_box(id: &str, text: &str) -> Value {
    json!({"id": id, "kind": "text", "area": {"x": 20, "y": 120, "width": 100, "height": 20},
        "text": text, "font": "Inter", "size": 12})
}

impl TestStack {
    /// Gives the tests' team this design and the campaign these settings, with the design in its one step.
    pub async fn apply_design(&self, document: Value, campaign: Value) {
        self.save_design(document).await;
        let mut settings = json!({"steps": [{"design": "Designed", "postage": "standard"}]});
        settings
            .as_object_mut()
            .expect("an object")
            .extend(campaign.as_object().expect("an object").clone());
        self.save_campaign(settings).await;
    }

    /// Saves the design named `Designed`.
    pub async fn save_design(&self, document: Value) {
        let designs = json!([{"name": "Designed", "document": document}]);
        self.apply_team(json!({"teams": [{"name": "Test", "designs": designs}]}))
            .await;
    }

    /// What the cards print of their recipients, the oldest first.
    pub async fn list_contents(&self) -> Vec<Value> {
        let sql = "SELECT content FROM mailpieces ORDER BY mailpiece_id";
        let rows = self.sql.query(sql, &[]).await.expect("mailpieces");
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Waits until so many cards are made and paid for.
    pub async fn wait_until_paid(&self, cards: i64) {
        let sql = "SELECT count(*) FROM mailpieces JOIN charges USING (team_id, charge_id)
                   WHERE charges.state = 'settled'";
        wait_until("the cards are paid for", async || {
            self.query_count(sql).await == cards
        })
        .await;
    }

    /// Lets a design's picture be known as fetched, or as unusable for good.
    pub async fn record_design_picture(&self, link: &str, outcome: PictureOutcome) {
        let team = self
            .store
            .find_team_by_name("Test")
            .await
            .expect("the team")
            .team_id;
        let link_hash = *blake3::hash(link.as_bytes()).as_bytes();
        let row = PictureRow {
            link_hash,
            outcome,
            expires_at: None,
        };
        let saved = self
            .store
            .save_pictures(team, PictureUse::Design, &[row], self.now())
            .await;
        assert_eq!(saved.expect("saved"), 1);
    }
}
