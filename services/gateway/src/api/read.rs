//! What a team reads of its mailpieces, its campaigns and its ledger.

use contract::read::{
    CampaignAnswer, CampaignsAnswer, LedgerAnswer, MailpieceAnswer, MailpiecesAnswer, READ_ITEMS,
    READ_ITEMS_DEFAULT,
};
use contract::send::SendError;
use following::{CAMPAIGN_DAYS, READ_ROWS};
use model::mailpiece_state::MailpieceState;
use serde_json::{Value, json};

use super::operation::{
    ApiOperation, DocumentedError, ErrorEnvelopeKind, build_parameter, error_responses,
    json_response,
};
use super::types::SchemaRegistry;
use crate::read::{CAMPAIGN_PATH, CAMPAIGNS_PATH, LEDGER_PATH, MAILPIECE_PATH, MAILPIECES_PATH};

/// The tag of these operations.
pub(super) const TAG: &str = "Mailpieces";

/// How the API of sends describes its operations.
#[derive(Clone, Copy)]
pub(super) struct ReadStyle {
    /// Names of security schemes, any of which opens them.
    pub(super) opened_by: &'static [&'static str],
    /// An error as it is documented.
    pub(super) document_error: fn(&SendError) -> DocumentedError,
}

/// Errors that no send is answered with.
#[cfg(test)]
pub(super) fn own_errors() -> [SendError; 3] {
    [
        SendError::MailpieceNotFound,
        SendError::InvalidCursor,
        SendError::InvalidState,
    ]
}

/// All of them.
pub(super) fn list_operations(style: ReadStyle, types: &mut SchemaRegistry) -> Vec<ApiOperation> {
    vec![
        style.mailpieces_operation(types),
        style.mailpiece_operation(types),
        style.campaigns_operation(types),
        style.campaign_operation(types),
        style.ledger_operation(types),
    ]
}

const LAST_PAGE: &str = "Every answer has a `next_cursor`, the last one too: who goes on from it later gets what came meanwhile.";

fn page_parameters() -> Vec<Value> {
    let limit = json!({"type": "integer", "minimum": 1, "maximum": READ_ITEMS, "default": READ_ITEMS_DEFAULT});
    vec![
        build_parameter(
            "query",
            "cursor",
            json!({"type": "string"}),
            "The `next_cursor` of an earlier answer with the same filters; without it the list begins anew.",
        ),
        build_parameter("query", "limit", limit, "Items of the answer at the most."),
    ]
}

fn mailpiece_filters() -> Vec<Value> {
    let states: Vec<&str> = MailpieceState::ALL
        .iter()
        .map(|state| state.as_str())
        .collect();
    let moment = json!({"type": "string", "format": "date-time"});
    let campaign = json!({"type": "string", "pattern": "^PA-[A-Z0-9]{6}$"});
    let parameter =
        |name: &str, schema: Value, what: &str| build_parameter("query", name, schema, what);
    vec![
        parameter(
            "changes",
            json!({"type": "boolean", "default": false}),
            "`true` for the feed of changes: each mailpiece as often as it has changed, as it is now.",
        ),
        parameter(
            "changed_since",
            moment,
            "The feed of changes from this moment on, and up to ten minutes before it. Of no meaning beside a `cursor`.",
        ),
        parameter("campaign_id", campaign, "Only those of this campaign."),
        parameter(
            "state",
            json!({"type": "string", "enum": states}),
            "Only those that are in this state now.",
        ),
        parameter(
            "reference",
            json!({"type": "string"}),
            "Only those whose recipient was sent last with this reference.",
        ),
    ]
}

impl ReadStyle {
    fn operation(
        self,
        (id, path, summary): (&'static str, &'static str, &'static str),
        description: String,
        own_errors: &[SendError],
        answer: Value,
    ) -> ApiOperation {
        let errors = [
            SendError::InvalidApiKey,
            SendError::RateLimited,
            SendError::InternalError,
        ];
        let mut responses = error_responses(
            ErrorEnvelopeKind::Flat,
            errors
                .iter()
                .chain(own_errors)
                .map(self.document_error)
                .collect(),
        );
        responses.insert(200, json_response("What was asked for.", answer));
        ApiOperation {
            method: "get",
            path: path.to_owned(),
            id,
            tag: TAG,
            summary,
            description: description.into(),
            parameters: Vec::new(),
            body: None,
            opened_by: self.opened_by,
            responses,
        }
    }

    fn mailpieces_operation(self, types: &mut SchemaRegistry) -> ApiOperation {
        let description = format!(
            "Each mailpiece once, in the order in which they were paid; or, with `changes`, what has changed, in the order of the \
             changes. Who goes on from each `next_cursor` gets everything once and misses nothing. An answer reads {READ_ROWS} \
             mailpieces at the most: with filters it may be short, or empty, while `has_more` is true. {LAST_PAGE}"
        );
        let errors = [
            invalid_parameter(),
            SendError::InvalidCursor,
            SendError::InvalidState,
        ];
        let about = ("listMailpieces", MAILPIECES_PATH, "Mailpieces of the team");
        let answer = types.written_schema::<MailpiecesAnswer>();
        ApiOperation {
            parameters: [page_parameters(), mailpiece_filters()].concat(),
            ..self.operation(about, description, &errors, answer)
        }
    }

    fn mailpiece_operation(self, types: &mut SchemaRegistry) -> ApiOperation {
        let description = "Its state, and what happened to it: each entry says when, by whom, and whether the post has scanned it, \
                           somebody has reported it, or it is estimated from the calendar.";
        let about = ("getMailpiece", MAILPIECE_PATH, "One mailpiece");
        let id = json!({"type": "string", "format": "uuid"});
        let answer = types.written_schema::<MailpieceAnswer>();
        ApiOperation {
            parameters: vec![build_parameter("path", "id", id, "The mailpiece's id.")],
            ..self.operation(
                about,
                description.to_owned(),
                &[SendError::MailpieceNotFound],
                answer,
            )
        }
    }

    fn campaigns_operation(self, types: &mut SchemaRegistry) -> ApiOperation {
        let about = ("listCampaigns", CAMPAIGNS_PATH, "Campaigns of the team");
        let errors = [invalid_parameter(), SendError::InvalidCursor];
        let answer = types.written_schema::<CampaignsAnswer>();
        ApiOperation {
            parameters: page_parameters(),
            ..self.operation(
                about,
                "In the order of their ids.".to_owned(),
                &errors,
                answer,
            )
        }
    }

    fn campaign_operation(self, types: &mut SchemaRegistry) -> ApiOperation {
        let description = "With its steps, and what happened to it by day. Figures are added up when things happen; mailpieces by \
                           state are counted since the service counts that state.";
        let about = ("getCampaign", CAMPAIGN_PATH, "One campaign");
        let day = json!({"type": "string", "format": "date"});
        let id = json!({"type": "string", "pattern": "^PA-[A-Z0-9]{6}$"});
        let from = format!(
            "The first day of the figures, in the team's time zone; 29 days before the last one unless it is given. {CAMPAIGN_DAYS} \
             days at the most."
        );
        let errors = [invalid_parameter(), SendError::CampaignNotFound];
        let answer = types.written_schema::<CampaignAnswer>();
        ApiOperation {
            parameters: vec![
                build_parameter("path", "id", id, "The campaign's id."),
                build_parameter("query", "from", day.clone(), &from),
                build_parameter(
                    "query",
                    "to",
                    day,
                    "The last day; today unless it is given.",
                ),
            ],
            ..self.operation(about, description.to_owned(), &errors, answer)
        }
    }

    fn ledger_operation(self, types: &mut SchemaRegistry) -> ApiOperation {
        let about = ("listBookings", LEDGER_PATH, "The ledger of the team");
        let errors = [invalid_parameter(), SendError::InvalidCursor];
        let answer = types.written_schema::<LedgerAnswer>();
        let description = format!(
            "Money that came in, was spent or was given back, in the order in which it was booked: who goes on from each \
             `next_cursor` gets each booking once and misses none. {LAST_PAGE}"
        );
        ApiOperation {
            parameters: page_parameters(),
            ..self.operation(about, description, &errors, answer)
        }
    }
}

fn invalid_parameter() -> SendError {
    SendError::InvalidPayload("A parameter cannot be read.".to_owned())
}
