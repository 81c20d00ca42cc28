//! Events of mailpieces: for endpoints that ask for them, each once.

use chrono::{DateTime, Utc};
use contract::webhook::MailpieceEventState;
use model::mailpiece_state::{MailpieceBasis, MailpieceState};
use pillarbox::print::{PrintRequest, PrintRunner};
use pillarbox_tests::wait_until;
use runtime::Config;
use serde_json::{Value, json};
use storage::Storage;
use store::NewMailpieceEvent;
use tempfile::TempDir;
use uuid::Uuid;

use super::World;

/// A world whose cards can be printed.
async fn printing_world(folder: &TempDir) -> World {
    World::with(vec![
        (
            "STORAGE__FOLDER",
            folder.path().to_str().unwrap().to_owned(),
        ),
        ("PRINT__PUBLIC_URL", "https://mail.example.com".to_owned()),
        ("PRINT__LEAD_DAYS", "30".to_owned()),
        ("DISPATCHER__SWEEP_INTERVAL_MS", "50".to_owned()),
    ])
    .await
}

async fn mailpiece_id(world: &World) -> Uuid {
    let sql = "SELECT mailpiece_id FROM mailpieces";
    world.stack.sql.query_one(sql, &[]).await.unwrap().get(0)
}

async fn record_fact(world: &World, state: MailpieceState, occurred_at: DateTime<Utc>) {
    let fact = NewMailpieceEvent {
        mailpiece_id: mailpiece_id(world).await,
        event_id: Uuid::now_v7(),
        state,
        basis: MailpieceBasis::Scanned,
        source: "usps",
        occurred_at,
        detail: "operation 919 at 78710",
    };
    let mut connection = world.stack.store.connection().await.unwrap();
    let transaction = connection.begin_transaction().await.unwrap();
    let now = world.stack.now();
    transaction
        .record_mailpiece_events(world.team, &[fact], now)
        .await
        .unwrap();
    transaction.commit().await.unwrap();
}

async fn print_cards(world: &World) {
    let config = Config::with(world.stack.settings.clone()).unwrap();
    let printer = PrintRunner {
        store: world.stack.store.clone(),
        storage: Storage::new(&config.storage).unwrap(),
        settings: config.print,
        clock: world.stack.clock.clone(),
    };
    let printed = printer.print(&PrintRequest::default()).await.unwrap();
    assert_eq!(printed.runs.len(), 1, "{printed:?}");
}

/// Until the feed is followed to its end.
async fn until_followed(world: &World) {
    let sql = "SELECT count(*) FROM mailpiece_followers JOIN feeds USING (team_id, position) WHERE feed = 'mailpieces'
        AND NOT EXISTS (SELECT FROM feed_batches WHERE position IS NULL AND feed = 'mailpieces')";
    wait_until("the feed is followed", async || {
        world.stack.query_count(sql).await == 1
    })
    .await;
}

fn names(world: &World) -> Vec<String> {
    let mut names: Vec<String> = world
        .sink
        .received()
        .iter()
        .map(|event| event.json()["event"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_hears_of_mailpieces_when_it_asks_to() {
    use MailpieceEventState::{Delivered, Printed, Stalled};
    let folder = TempDir::new().unwrap();
    let world = printing_world(&folder).await;
    let at = world.stack.now();
    record_fact(&world, MailpieceState::Returned, at).await;
    world.stack.clock.advance(chrono::TimeDelta::seconds(1));
    let wanted = [Printed, Delivered, Stalled, MailpieceEventState::Returned];
    world
        .manager()
        .set_events(world.endpoint, &wanted)
        .await
        .unwrap();
    assert_eq!(
        world.state().await.mailpiece_states,
        ["delivered", "printed", "returned", "stalled"]
    );
    world.stack.clock.advance(chrono::TimeDelta::seconds(1));
    print_cards(&world).await;
    record_fact(&world, MailpieceState::InTransit, at).await;
    record_fact(&world, MailpieceState::Delivered, at).await;
    until_followed(&world).await;
    // A second fact of a state tells nothing new; each silence does.
    record_fact(&world, MailpieceState::Delivered, world.stack.now()).await;
    record_fact(&world, MailpieceState::Stalled, at).await;
    record_fact(&world, MailpieceState::Stalled, world.stack.now()).await;
    until_followed(&world).await;
    world.scan().await;
    let received = world.until_received(5).await;
    let expected = [
        "mailpiece.delivered",
        "mailpiece.printed",
        "mailpiece.stalled",
        "mailpiece.stalled",
        "qr.scanned",
    ];
    assert_eq!(names(&world), expected);
    let delivered = received
        .iter()
        .find(|event| event.json()["event"] == "mailpiece.delivered")
        .unwrap();
    let body: Value = delivered.json();
    assert_eq!(body["id"], delivered.id());
    assert_eq!(body["mailpiece"]["id"], json!(mailpiece_id(&world).await));
    assert_eq!(body["basis"], "scanned");
    assert_eq!(body["detail"], "operation 919 at 78710");
    assert_eq!(body["recipient"]["last_name"], "Reader1");
    // Nothing asked for, nothing told.
    world
        .manager()
        .set_events(world.endpoint, &[])
        .await
        .unwrap();
    record_fact(&world, MailpieceState::Stalled, world.stack.now()).await;
    until_followed(&world).await;
    assert_eq!(world.sink.count_received(), 5);
}
