//! Scans: where a QR code leads, the feed, and the event that is posted to endpoints.

use std::collections::BTreeMap;

use contract::send::SendError;
use contract::webhook::{MailpieceChanged, MailpieceEventState, QrScanned};
use model::scan::SCAN_PATH;
use serde_json::{Value, json};

use super::operation::{
    ApiOperation, ErrorEnvelopeKind, build_parameter, error_responses, json_response,
    mark_required, with_retry_after_header,
};
use super::send::{OPENED_BY, documented_error};
use super::types::SchemaRegistry;
use crate::scan::feed::{EVENTS, MOST_WAIT_SECONDS, ScansAnswer};

/// The tag of these operations.
pub(super) const TAG: &str = "Scans";

/// The tag of what is posted to endpoints: one of its own, for generators make a module of each tag.
pub(super) const EVENTS_TAG: &str = "Webhooks";

/// All of them.
pub(super) fn list_operations(types: &mut SchemaRegistry) -> Vec<ApiOperation> {
    vec![
        follow_operation("get"),
        follow_operation("head"),
        feed_operation(types),
    ]
}

/// What a phone asks, or a program that looks where a code leads.
fn follow_operation(method: &'static str) -> ApiOperation {
    let (id, summary, description) = match method {
        "head" => (
            "lookUpQrCode",
            "Where a QR code leads",
            "The answer to a GET, but no scan is recorded.",
        ),
        _ => (
            "followQrCode",
            "A QR code is scanned",
            "Records the scan and sends the phone on. Never cached, and open to all.",
        ),
    };
    let code = json!({"type": "string", "pattern": "^[0-9A-Za-z]{10}(-[2-9])?$"});
    let what = "What is printed: the card's code, and behind a hyphen which QR code of the card, unless it is the first.";
    ApiOperation {
        method,
        path: format!("{SCAN_PATH}{{code}}"),
        id,
        tag: TAG,
        summary,
        description: description.into(),
        parameters: vec![build_parameter("path", "code", code, what)],
        body: None,
        opened_by: &[],
        responses: BTreeMap::from([
            (302, redirect_response()),
            (
                404,
                html_response("No card has this code. A page for people."),
            ),
            (
                503,
                with_retry_after_header(html_response("Try again. A page for people.")),
            ),
        ]),
    }
}

fn redirect_response() -> Value {
    let location = json!({"description": "The destination.", "required": true, "schema": {"type": "string", "format": "uri"}});
    json!({"description": "To the destination.", "headers": {"Location": location}})
}

fn html_response(description: &str) -> Value {
    json!({"description": description, "content": {"text/html": {"schema": {"type": "string"}}}})
}

fn feed_operation(types: &mut SchemaRegistry) -> ApiOperation {
    use SendError::{InternalError, InvalidApiKey, InvalidPayload, RateLimited};
    let parameters = "A parameter cannot be read.".to_owned();
    let errors = [
        InvalidApiKey,
        InvalidPayload(parameters),
        RateLimited,
        InternalError,
    ];
    let mut responses = error_responses(
        ErrorEnvelopeKind::Flat,
        errors.iter().map(documented_error).collect(),
    );
    let description = format!("Scans behind `after`, at most {EVENTS}.");
    responses.insert(
        200,
        json_response(&description, types.written_schema::<ScansAnswer>()),
    );
    let wait = json!({"type": "integer", "minimum": 0, "maximum": MOST_WAIT_SECONDS, "default": 0});
    ApiOperation {
        method: "get",
        path: "/api/v1/scans".to_owned(),
        id: "listScans",
        tag: TAG,
        summary: "Scans as they come",
        description:
            "For programs that cannot be reached by webhooks. Without `after` it answers the end of the feed. Whoever goes on \
             from each `nextAfter` gets every scan once: it takes its place once it is recorded."
                .into(),
        parameters: vec![
            build_parameter(
                "query",
                "after",
                json!({"type": "string", "format": "uuid"}),
                "The `nextAfter` of an earlier answer.",
            ),
            build_parameter("query", "wait", wait, "Seconds that the question is held open until there is a scan."),
        ],
        body: None,
        opened_by: OPENED_BY,
        responses,
    }
}

const ID: &str =
    "The event's id, the same on every retry and redelivery: know by it what came before.";

const SIGNATURE: &str = "Only from an endpoint with keys to sign with: `v1,` and the base64 of an HMAC-SHA256 over \
                         `{webhook-id}.{webhook-timestamp}.{body}`; while a key is replaced one for each, with blanks between.";

/// The events that are posted to endpoints, by their names.
pub(super) fn webhook_schemas(types: &mut SchemaRegistry) -> Value {
    let scanned = webhook_schema(types);
    let mut webhooks = serde_json::Map::from_iter([("qr.scanned".to_owned(), scanned.clone())]);
    let body = types.written_schema::<MailpieceChanged<'_>>();
    for state in MailpieceEventState::ALL {
        let mut webhook = scanned.clone();
        let post = &mut webhook["post"];
        post["operationId"] = json!(operation_id(state));
        post["summary"] = json!(format!(
            "A mailpiece became {}",
            state.as_str().replace('_', " ")
        ));
        post["description"] = json!(MAILPIECE_EVENT);
        post["requestBody"]["content"]["application/json"]["schema"] = body.clone();
        webhooks.insert(state.event_name().to_owned(), webhook);
    }
    Value::Object(webhooks)
}

/// As `mailpieceInTransit`.
fn operation_id(state: MailpieceEventState) -> String {
    let words = state.as_str().split('_').map(|word| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    });
    "mailpiece".to_owned() + &words.collect::<String>()
}

const MAILPIECE_EVENT: &str = "Posted to each active endpoint of the team that has asked for events of this name and whose scope the \
                               campaign is in, once for each mailpiece, or, of one that stalls, once for each silence. Headers, \
                               signatures and retries are those of `qr.scanned`. The post's scans come late and in any order: \
                               `occurred_at` says when it happened, and events may come in another order.";

/// The event of a scan.
fn webhook_schema(types: &mut SchemaRegistry) -> Value {
    let seconds = json!({"type": "string", "pattern": "^[0-9]+$"});
    json!({"post": {
        "operationId": "qrScanned",
        "tags": [EVENTS_TAG],
        "summary": "A QR code was scanned",
        "description": "Posted to each active endpoint of the team whose scope the campaign is in, for each recorded scan. Answer \
                        at once and work afterwards. A failed delivery is retried after about 5 minutes, 15 minutes, 1 hour and \
                        6 hours; redirects are not followed. A delivery carries no signature and cannot prove where it \
                        comes from, unless the endpoint was given keys to sign with: give its URL a long random path, and take \
                        the body for what a stranger may have sent. With keys there is one header more, `webhook-signature`, as \
                        Standard Webhooks has it.",
        "security": [],
        "parameters": [
            mark_required(build_parameter("header", "webhook-id", json!({"type": "string"}), ID)),
            mark_required(build_parameter("header", "webhook-timestamp", seconds, "Unix seconds at which this attempt was sent.")),
            build_parameter("header", "webhook-signature", json!({"type": "string"}), SIGNATURE),
        ],
        "requestBody": {"required": true, "content": {"application/json": {"schema": types.written_schema::<QrScanned<'_>>()}}},
        "responses": {"2XX": {"description": "Delivered. Anything else, or no answer within 10 seconds, is retried."}},
    }})
}
