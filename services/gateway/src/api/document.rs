//! The OpenAPI document.

use serde_json::{Map, Value, json};

use super::operation::error_schemas;
use super::read::ReadStyle;
use super::types::SchemaRegistry;
use super::{mcp, push, read, scan, send, withhold};

/// Makes the document.
pub(super) fn build_document() -> Value {
    let mut types = SchemaRegistry::new();
    let mut operations = send::list_operations(&mut types);
    operations.extend(withhold::list_operations(&mut types));
    let style = ReadStyle {
        opened_by: send::OPENED_BY,
        document_error: send::documented_error,
    };
    operations.extend(read::list_operations(style, &mut types));
    operations.extend(scan::list_operations(&mut types));
    operations.extend(push::list_operations(&mut types));
    operations.extend(mcp::list_operations(&mut types));
    let mut paths = Map::new();
    for operation in &operations {
        let path = paths
            .entry(operation.path.clone())
            .or_insert_with(|| json!({}));
        path[operation.method] = operation.to_json();
    }
    let webhooks = scan::webhook_schemas(&mut types);
    let mut schemas = types.into_schemas();
    schemas.extend(error_schemas(&operations).map(|(name, schema)| (name.to_owned(), schema)));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Pillarbox",
            "version": "1",
            "summary": "Direct mail to the recipients that you send.",
            "description": ABOUT,
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": list_servers(""),
        "tags": list_tags(),
        "paths": paths,
        "webhooks": webhooks,
        "components": {"schemas": schemas, "securitySchemes": security_schemes()},
    })
}

/// Where the operations are: at this URL, or where the document came from when there is none.
pub(super) fn list_servers(public_url: &str) -> Value {
    match public_url.trim_end_matches('/') {
        "" => json!([{"url": "/", "description": "Where this document came from."}]),
        url => json!([{"url": url}]),
    }
}

const ABOUT: &str = "Send recipients to a campaign and mail them; keep the contacts of a CRM in step; hear of scans. Changes within \
                     version 1 only add: ignore fields and codes that you do not know. A key never belongs into a URL. Every \
                     answer of the three APIs carries `X-Request-Id`, the name of the request in logs and in questions to us, and \
                     when the request was counted `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`: requests a \
                     minute, those left, and the seconds until the next minute, of the source address or the key, whichever has \
                     fewer left. A body may come with `Content-Encoding: gzip` or `zstd`, and then has the same limit for what it \
                     becomes. `pillarbox explain CODE` tells of every code what happened, whether anything was mailed or charged, \
                     and what to do. A path that is not listed here is answered with 404 `not_found`, another method than the \
                     listed ones with \
                     405 `method_not_allowed`.";

fn list_tags() -> Value {
    json!([
        {"name": send::TAG, "description": "With a Full access key: recipients in, cards out. 60 requests a minute for each key and each source address. \
                                            Failures are `{code, message}`."},
        {"name": read::TAG, "description": "With a Full access key: what became of what was sent, and what it has cost. As many requests as for \
                                            sends, counted apart. Failures are `{code, message}`."},
        {"name": scan::TAG, "description": "What happens when a phone scans a QR code, and how a team gets to know."},
        {"name": scan::EVENTS_TAG, "description": "What is posted to the endpoints of a team."},
        {"name": push::TAG, "description": "With an integration's key: declare fields, begin a sync, push records, complete it. \
                                            About 120 requests a minute for each source address. \
                                            Failures are `{error: {code, message, details?}}`."},
        {"name": mcp::TAG, "description": "JSON-RPC 2.0 over POST, for agents."},
    ])
}

fn security_schemes() -> Value {
    let bearer =
        |description: &str| json!({"type": "http", "scheme": "bearer", "description": description});
    json!({
        "fullAccessKey": bearer("A Full access key, `pk_live_…`."),
        "fullAccessKeyHeader": {
            "type": "apiKey", "in": "header", "name": "X-API-Key", "description": "A Full access key, `pk_live_…`."
        },
        "integrationKey": bearer("A key of one integration, `pk_int_…`."),
        "formulasKey": bearer("A Formulas only key, `pk_fx_…`."),
    })
}
