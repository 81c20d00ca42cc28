//! Everything through PgBouncer in transaction mode, with the file that is deployed.

use pillarbox_tests::{
    CAMPAIGN, INTEGRATION_KEY, KEY, PgBouncer, StackOptions, TestStack, WebhookSink,
    build_recipient, build_recipients, list_codes, wait_until, with_qr_codes,
};
use reqwest::Method;
use serde_json::{Value, json};
use tokio_postgres::{NoTls, SimpleQueryMessage};

/// Connections to the database for each user, of which every process is one: fewer than the processes' pools of six.
const CONNECTIONS: usize = 3;

/// The users: mailer, syncer, dispatcher, gateway, and the one that asks the pooler at the end.
const USERS: usize = 5;

/// A stack whose processes reach the database through the pooler only. Returns where its gateway listens.
async fn pooled() -> (TestStack, WebhookSink, PgBouncer, String) {
    let options = StackOptions {
        mailers: 0,
        ..StackOptions::default()
    };
    let (mut stack, sink) = with_qr_codes(options).await;
    let pooler = PgBouncer::start(&stack.settings["PILLARBOX__DATABASE__URL"], CONNECTIONS);
    stack
        .settings
        .insert("PILLARBOX__DATABASE__URL".to_owned(), pooler.url.clone());
    stack.settings.insert(
        "PILLARBOX__DATABASE__POOLER".to_owned(),
        "transaction".to_owned(),
    );
    stack.add_mailer(None);
    stack.add_syncer();
    stack.add_dispatcher();
    let url = stack.start_second_gateway().await;
    (stack, sink, pooler, url)
}

async fn ask(url: &str, sql: &str) -> Vec<SimpleQueryMessage> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.simple_query(sql).await.unwrap()
}

fn first(messages: &[SimpleQueryMessage], column: &str) -> String {
    let row = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row.get(column).unwrap_or_default().to_owned()),
        _ => None,
    });
    row.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn sends_a_sync_scans_and_webhooks_work_in_transaction_mode() {
    let (stack, sink, pooler, url) = pooled().await;
    // Sends: more at a time than the pooler has connections, some of them the same.
    let authorization = format!("Bearer {KEY}");
    let headers = [("authorization", authorization.as_str())];
    let send = async |first: usize| {
        let body =
            json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(first..first + 30)})
                .to_string();
        stack.post_send_to(&url, &headers, body).await.reasons()
    };
    let sends = (0..12).map(|number| send(1 + (number % 8) * 100));
    for reasons in futures_util::future::join_all(sends).await {
        assert_eq!(reasons, vec!["mailed"; 30]);
    }
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        240
    );
    stack.assert_consistent().await;
    a_sync_works(&stack, &url).await;
    // Scans and their webhooks.
    let codes = list_codes(&stack).await;
    for code in &codes[..20] {
        let answer = stack
            .request(
                Method::GET,
                &format!("{url}/q/{code}"),
                &[("user-agent", "Safari")],
                "",
            )
            .await;
        assert_eq!(answer.status, 302);
    }
    wait_until("every scan is delivered", async || {
        sink.count_received() == 20
    })
    .await;
    wait_until("and recorded", async || {
        stack
            .query_count("SELECT count(*) FROM deliveries WHERE state = 'delivered'")
            .await
            == 20
    })
    .await;
    // It was the pooler that did it, and with few connections.
    let pools = ask(&pooler.console, "SHOW POOLS").await;
    let used: usize = pools
        .iter()
        .filter_map(|message| match message {
            SimpleQueryMessage::Row(row) if row.get("database") != Some("pgbouncer") => Some(row),
            _ => None,
        })
        .map(|row| {
            ["sv_active", "sv_idle", "sv_used"]
                .iter()
                .map(|name| row.get(*name).unwrap().parse::<usize>().unwrap())
                .sum::<usize>()
        })
        .sum();
    assert!(
        (1..=CONNECTIONS * USERS).contains(&used),
        "{used} connections"
    );
    assert_eq!(
        first(
            &ask(&pooler.url, "SHOW statement_timeout").await,
            "statement_timeout"
        ),
        "30s"
    );
    assert_eq!(first(&ask(&pooler.url, "SHOW jit").await, "jit"), "off");
}

async fn a_sync_works(stack: &TestStack, url: &str) {
    stack
        .apply_team(json!({"teams": [{"name": "Test",
            "integrations": [{"name": "CRM", "keys": [{"name": "k", "key": INTEGRATION_KEY}]}]}]}))
        .await;
    let authorization = format!("Bearer {INTEGRATION_KEY}");
    let call = async |method: Method, path: &str, key: &str, body: Value| {
        let headers = [
            ("authorization", authorization.as_str()),
            ("idempotency-key", key),
        ];
        let url = format!("{url}/api/integrations/push/v1{path}");
        let answer = stack
            .request(method, &url, &headers, body.to_string())
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    };
    call(
        Method::POST,
        "/schema",
        "",
        json!({"fields": [{"key": "first", "semantic": "first_name"}]}),
    )
    .await;
    call(Method::POST, "/sync", "begin", json!({"mode": "full"})).await;
    let record = |number: usize| json!({"external_id": number.to_string(), "fields": {"first": format!("N{number}")}});
    let batch =
        |from: usize| json!({"records": (from..from + 200).map(record).collect::<Vec<_>>()});
    let keys = ["a", "b", "c", "d", "e", "f"];
    let pushes = keys
        .iter()
        .enumerate()
        .map(|(number, key)| call(Method::POST, "/records", key, batch(number * 200)));
    for pushed in futures_util::future::join_all(pushes).await {
        assert_eq!(pushed["accepted"], 200);
    }
    let completed = call(Method::PATCH, "/sync", "complete", json!({})).await;
    assert_eq!(completed["recordsUpserted"], 1200);
    assert_eq!(
        call(Method::PATCH, "/sync", "complete", json!({})).await,
        completed,
        "a replay"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_leaves_nothing_of_itself_on_shared_connections() {
    let (stack, _sink, _pooler, url) = pooled().await;
    // Mailers that die in the middle of their transactions, again and again, beside one that goes on.
    for round in 0..3 {
        let mut mailer = pillarbox_tests::SpawnedProcess::start(
            "mailer",
            &stack.settings,
            Some("send.reserved"),
        );
        let headers = [("x-api-key", KEY)];
        let body = json!({"campaign_id": CAMPAIGN, "recipients": [build_recipient(5_000 + round)]})
            .to_string();
        stack.post_send_to(&url, &headers, body).await;
        mailer.kill();
    }
    let body = json!({"campaign_id": CAMPAIGN, "recipients": build_recipients(1..200)}).to_string();
    let answer = stack.post_send_to(&url, &[("x-api-key", KEY)], body).await;
    assert_eq!(answer.reasons(), vec!["mailed"; 199]);
    stack.assert_consistent().await;
}
