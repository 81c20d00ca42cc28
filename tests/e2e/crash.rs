//! Any crash, nothing twice: the real processes are killed at named points and at random, the broker and the
//! database are killed and wiped, and each address ends with one card and one charge.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pillarbox_tests::{
    CAMPAIGN, ChaosFault, ChaosFleet, GatedVerifier, KEY, PrivateServer, PrivateServers,
    ServerKind, SlowVerifier, SpawnedProcess, StackOptions, TestStack, build_recipients,
    find_free_port, settings_for, wait_until,
};
use rand::SeedableRng;
use rand::rngs::StdRng;
use runtime::{Config, Process};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn quick_leases() -> Vec<(&'static str, String)> {
    vec![
        ("MAILER__LEASE_MS", "1500".to_owned()),
        ("MAILER__JOB_PAUSE_MS", "200".to_owned()),
    ]
}

/// A stack whose mailers are real processes.
async fn without_mailer() -> TestStack {
    let stack = TestStack::with_options(StackOptions {
        settings: quick_leases(),
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    stack
}

/// Posts until the answer is 200: what a client does that keeps trying.
async fn send_until_answered(stack: &TestStack, recipients: &[Value]) -> Vec<String> {
    let answer = std::sync::Mutex::new(None);
    wait_until("the send is answered", async || {
        let got = stack.send_recipients(recipients).await;
        if got.status != 200 {
            return false;
        }
        *answer.lock().unwrap() = Some(got.reasons());
        true
    })
    .await;
    answer.into_inner().unwrap().unwrap()
}

async fn assert_one_card_each(stack: &TestStack, addresses: i64) {
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        addresses
    );
    assert_eq!(
        stack
            .query_count("SELECT count(DISTINCT address_id) FROM mailpieces")
            .await,
        addresses
    );
    assert_eq!(
        stack
            .query_count("SELECT coalesce(sum(amount_cents), 0)::bigint FROM charges")
            .await,
        addresses * 79
    );
    let sales = "SELECT balance_cents FROM ledger_accounts WHERE account = 'sales' AND team_id IN (SELECT team_id FROM campaigns)";
    assert_eq!(stack.query_count(sales).await, addresses * 79);
    stack.assert_consistent().await;
}

async fn dies_at(point: &'static str) {
    let stack = without_mailer().await;
    let mut doomed = SpawnedProcess::start("mailer", &stack.settings, Some(point));
    let recipients = build_recipients(1..31);
    let first = {
        let send = send_until_answered(&stack, &recipients);
        let die = async {
            let doomed = tokio::sync::Mutex::new(&mut doomed);
            wait_until("the mailer dies at its fail point", async || {
                doomed.lock().await.has_ended()
            })
            .await;
            // Another worker takes over what the dead one had.
            SpawnedProcess::start("mailer", &stack.settings, None)
        };
        let (reasons, _second) = tokio::join!(send, die);
        let again = send_until_answered(&stack, &recipients).await;
        assert_eq!(again, reasons, "a repeat gets the same answer");
        reasons
    };
    assert_eq!(first, vec!["mailed"; 30]);
    assert_one_card_each(&stack, 30).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_the_claim() {
    dies_at("send.claimed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_reserve() {
    dies_at("send.reserved").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_charge() {
    dies_at("send.charged").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_settle_before_the_reply() {
    dies_at("send.settled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_left_open_is_finished_though_nobody_asks_again() {
    let stack = without_mailer().await;
    let mut doomed = SpawnedProcess::start("mailer", &stack.settings, Some("send.reserved"));
    let recipients = build_recipients(1..11);
    let ask = async {
        wait_until("the mailer dies", async || {
            let _ = tokio::time::timeout(
                Duration::from_millis(500),
                stack.send_recipients(&recipients),
            )
            .await;
            stack
                .query_count("SELECT count(*) FROM sends WHERE state = 'reserved'")
                .await
                == 1
        })
        .await;
    };
    ask.await;
    doomed.kill();
    let mut settings = stack.settings.clone();
    // Another namespace: the call in the queue is out of this worker's reach, as if the broker had been wiped.
    settings.insert(
        "PILLARBOX__BROKER__NAMESPACE".to_owned(),
        "elsewhere".to_owned(),
    );
    let _second = SpawnedProcess::start("mailer", &settings, None);
    wait_until("the send is finished", async || {
        stack
            .query_count("SELECT count(*) FROM sends WHERE state = 'finished'")
            .await
            == 1
    })
    .await;
    assert_one_card_each(&stack, 10).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_that_takes_longer_than_its_lease_stays_with_its_worker() {
    let gate = Arc::new(GatedVerifier::default());
    let verifier: Arc<dyn verification::AddressVerifier> = gate.clone();
    let lease_ms = 300;
    let settings = vec![("MAILER__LEASE_MS", lease_ms.to_string())];
    let options = StackOptions {
        settings,
        mailers: 2,
        verifier: Some(verifier),
        ..StackOptions::default()
    };
    let stack = TestStack::with_options(options).await;
    stack.save_campaign(json!({})).await;
    let recipients = build_recipients(1..4);
    let renewed = format!(
        "SELECT count(*) FROM sends WHERE leased_until > created_at + interval '{} milliseconds'",
        4 * lease_ms
    );
    // The repeat would take the request over as soon as its lease ran out.
    let (first, repeat, ()) = tokio::join!(
        stack.send_recipients(&recipients),
        stack.send_recipients(&recipients),
        async {
            wait_until("the lease is renewed", async || {
                stack.query_count(&renewed).await == 1
            })
            .await;
            gate.open();
        }
    );
    assert_eq!(first.reasons(), ["mailed"; 3]);
    assert_eq!(repeat.text, first.text);
    assert_eq!(gate.count_requests(), 1, "nobody began anew");
    assert_one_card_each(&stack, 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_taken_over_only_by_a_worker_that_has_a_slot_for_it() {
    let settings = vec![
        ("MAILER__LEASE_MS", "5000".to_owned()),
        ("MAILER__CONCURRENCY", "1".to_owned()),
    ];
    let mut stack = TestStack::with_options(StackOptions {
        settings,
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let mut doomed = SpawnedProcess::start("mailer", &stack.settings, Some("send.claimed"));
    let claimed = "SELECT count(*) FROM sends WHERE state = 'claimed'";
    wait_until("its worker dies with it", async || {
        // The call stays in the queue when its caller goes.
        let _ = tokio::time::timeout(
            Duration::from_millis(500),
            stack.send_recipients(&build_recipients(1..2)),
        )
        .await;
        stack.query_count(claimed).await == 1
    })
    .await;
    doomed.kill();
    let gate = Arc::new(GatedVerifier::default());
    stack.add_mailer(Some(gate.clone()));
    let recipients = build_recipients(2..3);
    let (answer, ()) = tokio::join!(send_until_answered(&stack, &recipients), async {
        // It came before, and waits beside the one slot for the dead worker's lease.
        wait_until("another one has the slot", async || {
            gate.count_requests() == 1
        })
        .await;
        stack.clock.advance(chrono::TimeDelta::seconds(6));
        // Longer than the longest pause between two looks.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let first = "SELECT count(*) FROM sends WHERE leased_until < now() + interval '5 seconds'";
        assert_eq!(
            stack.query_count(first).await,
            1,
            "nobody has taken it over"
        );
        gate.open();
    });
    assert_eq!(answer, ["mailed"]);
    assert_eq!(
        send_until_answered(&stack, &build_recipients(1..2)).await,
        ["mailed"]
    );
    assert_one_card_each(&stack, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_expires_before_its_worker_begins_it_is_never_begun() {
    let gate = Arc::new(GatedVerifier::default());
    let settings = vec![
        ("MAILER__CONCURRENCY", "1".to_owned()),
        ("GATEWAY__CALL_DEADLINE_MS", "2000".to_owned()),
    ];
    let verifier: Arc<dyn verification::AddressVerifier> = gate.clone();
    let stack = TestStack::with_options(StackOptions {
        settings,
        verifier: Some(verifier),
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let (begun, waiting) = (build_recipients(1..2), build_recipients(2..3));
    let (begun, waiting) = tokio::join!(stack.send_recipients(&begun), async {
        wait_until("the first has the one slot", async || {
            gate.count_requests() == 1
        })
        .await;
        stack.send_recipients(&waiting).await
    });
    assert_eq!(
        (begun.error(), waiting.error()),
        (begun.error(), begun.error())
    );
    assert_eq!(waiting.status, 504);
    gate.open();
    // Its turn would have come before this one's.
    assert_eq!(
        send_until_answered(&stack, &build_recipients(3..4)).await,
        ["mailed"]
    );
    assert_eq!(
        gate.count_requests(),
        2,
        "nobody looked at the one that expired"
    );
    assert_eq!(stack.query_count("SELECT count(*) FROM sends").await, 2);
    wait_until("the first is finished", async || {
        stack
            .query_count("SELECT count(*) FROM sends WHERE state = 'finished'")
            .await
            == 2
    })
    .await;
    assert_one_card_each(&stack, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn later_steps_of_an_open_send_are_planned_once_though_its_campaign_is_paused_by_then() {
    // Nobody looks for open sends: the repeat finds it.
    let settings = vec![
        ("MAILER__LEASE_MS", "4000".to_owned()),
        ("MAILER__JOB_INTERVAL_MS", "600000".to_owned()),
    ];
    let stack = TestStack::with_options(StackOptions {
        settings,
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    let steps =
        [0, 1, 2].map(|days| json!({"design": "Card", "postage": "standard", "delay_days": days}));
    stack.save_campaign(json!({"steps": steps})).await;
    let mut doomed = SpawnedProcess::start("mailer", &stack.settings, Some("send.reserved"));
    let recipients = build_recipients(1..11);
    wait_until("the mailer dies", async || {
        let _ = tokio::time::timeout(
            Duration::from_millis(500),
            stack.send_recipients(&recipients),
        )
        .await;
        stack
            .query_count("SELECT count(*) FROM sends WHERE state = 'reserved'")
            .await
            == 1
    })
    .await;
    doomed.kill();
    let planned = "SELECT count(*) FROM jobs WHERE kind = 'step'";
    assert_eq!(
        stack.query_count(planned).await,
        0,
        "they are planned with the charge"
    );
    stack
        .save_campaign(json!({"status": "paused", "steps": steps}))
        .await;
    let _second = SpawnedProcess::start("mailer", &stack.settings, None);
    for _ in 0..2 {
        assert_eq!(
            send_until_answered(&stack, &recipients).await,
            vec!["mailed"; 10]
        );
    }
    assert_eq!(stack.query_count(planned).await, 2);
    assert_eq!(
        stack
            .query_count("SELECT count(DISTINCT step) FROM jobs WHERE kind = 'step'")
            .await,
        2
    );
    assert_one_card_each(&stack, 10).await;
}

async fn job_dies_at(point: &'static str) {
    let stack = without_mailer().await;
    let step = |delay_days: u32| json!({"design": "Card", "postage": "standard", "delay_days": delay_days});
    stack
        .save_campaign(json!({"steps": [step(0), step(1)]}))
        .await;
    // Real processes have real clocks: the second step falls due at once.
    stack
        .sql
        .execute("UPDATE campaign_steps SET delay_days = 0", &[])
        .await
        .unwrap();
    let mut doomed = SpawnedProcess::start("mailer", &stack.settings, Some(point));
    assert_eq!(
        send_until_answered(&stack, &build_recipients(1..21)).await,
        vec!["mailed"; 20]
    );
    {
        let doomed = tokio::sync::Mutex::new(&mut doomed);
        wait_until("the mailer dies at its fail point", async || {
            doomed.lock().await.has_ended()
        })
        .await;
    }
    let _second = SpawnedProcess::start("mailer", &stack.settings, None);
    wait_until("step 2 is done", async || {
        stack.query_count("SELECT count(*) FROM jobs").await == 0
    })
    .await;
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM mailpieces WHERE step = 2")
            .await,
        20
    );
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM charges WHERE state = 'settled'")
            .await,
        2
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_step_killed_after_reserve() {
    job_dies_at("job.reserved").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_step_killed_after_charge() {
    job_dies_at("job.charged").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mailer_told_to_stop_finishes_what_it_began() {
    let stack = without_mailer().await;
    let mut mailer = SpawnedProcess::start("mailer", &stack.settings, None);
    assert_eq!(
        send_until_answered(&stack, &build_recipients(1..3))
            .await
            .len(),
        2
    );
    let recipients = build_recipients(10..1010);
    let (answer, ended_well) = tokio::join!(stack.send_recipients(&recipients), async {
        wait_until("the send has begun", async || {
            stack.query_count("SELECT count(*) FROM sends").await == 2
        })
        .await;
        tokio::task::block_in_place(|| mailer.terminate())
    });
    assert!(ended_well);
    assert_eq!(answer.reasons(), vec!["mailed"; 1000]);
    stack.assert_consistent().await;
}

/// A mailer in this process that can be told to stop; returns when it has.
async fn mail_until(stack: &TestStack, stop: CancellationToken) {
    let config = Config::with(settings_for("mailer", &stack.settings)).unwrap();
    let process = Process::new("mailer", config, stack.clock.clone(), stop).unwrap();
    let background = process.background.clone();
    mailer::run(process).await.unwrap();
    background.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mailer_told_to_stop_begins_no_further_open_send() {
    let stack = without_mailer().await;
    // Nobody has set up the provider: both sends are left open.
    let by_card = "UPDATE teams SET payment = 'stripe', stripe_customer = 'cus_1', stripe_payment_method = 'pm_1'";
    stack.sql.execute(by_card, &[]).await.unwrap();
    let stop = CancellationToken::new();
    tokio::join!(mail_until(&stack, stop.clone()), async {
        for number in [1, 2] {
            let send = async || {
                stack
                    .send_recipients(&build_recipients([number]))
                    .await
                    .status
                    == 504
            };
            wait_until("the send is left open", send).await;
        }
        stop.cancel();
    });
    stack
        .sql
        .execute("UPDATE charges SET payment = 'balance'", &[])
        .await
        .unwrap();
    let hold = "BEGIN; SELECT 1 FROM ledger_accounts WHERE account = 'prepaid' FOR UPDATE";
    stack.sql.batch_execute(hold).await.unwrap();
    stack.clock.advance(chrono::TimeDelta::minutes(1));
    let stop = CancellationToken::new();
    tokio::join!(mail_until(&stack, stop.clone()), async {
        let waiting = "SELECT count(*) FROM pg_locks
             WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))";
        wait_until("the first payment waits", async || {
            stack.query_count(waiting).await == 1
        })
        .await;
        stop.cancel();
        stack.sql.batch_execute("COMMIT").await.unwrap();
    });
    for state in ["finished", "reserved"] {
        let sends = format!("SELECT count(*) FROM sends WHERE state = '{state}'");
        assert_eq!(stack.query_count(&sends).await, 1, "{state}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_told_to_stop_answers_what_it_accepted() {
    let mut stack = TestStack::with_options(StackOptions {
        settings: quick_leases(),
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    let port = find_free_port();
    stack.settings.insert(
        "PILLARBOX__GATEWAY__LISTEN".to_owned(),
        format!("127.0.0.1:{port}"),
    );
    let mut gateway = SpawnedProcess::start("gateway", &stack.settings, None);
    let url = format!("http://127.0.0.1:{port}");
    let send = async |recipients: Vec<Value>| {
        let body = json!({"campaign_id": CAMPAIGN, "recipients": recipients}).to_string();
        reqwest::Client::new()
            .post(format!("{url}/api/v1/recipients"))
            .header("x-api-key", KEY)
            .body(body)
            .send()
            .await
    };
    wait_until("the gateway answers", async || {
        send(build_recipients(1..2))
            .await
            .is_ok_and(|answer| answer.status() == 200)
    })
    .await;
    let (answer, ended_well) = tokio::join!(send(build_recipients(10..1510)), async {
        wait_until("the send has begun", async || {
            stack.query_count("SELECT count(*) FROM sends").await == 2
        })
        .await;
        tokio::task::block_in_place(|| gateway.terminate())
    });
    assert!(ended_well);
    assert_eq!(
        answer.unwrap().json::<Value>().await.unwrap()["summary"]["mailed"],
        1500
    );
    assert!(
        send(build_recipients(1..2)).await.is_err(),
        "it listens no more"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_lost_with_the_broker_is_found_in_the_database() {
    let broker = PrivateServer::start(ServerKind::Rabbitmq);
    let mut stack = TestStack::with_options(StackOptions {
        settings: vec![("BROKER__URL", broker.url.clone())],
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    stack.save_campaign(json!({})).await;
    stack.add_mailer(Some(std::sync::Arc::new(SlowVerifier(
        Duration::from_secs(2),
    ))));
    let recipients = build_recipients(1..4);
    let (answer, ()) = tokio::join!(send_until_answered(&stack, &recipients), async {
        wait_until("the send has begun", async || {
            stack.query_count("SELECT count(*) FROM sends").await == 1
        })
        .await;
        tokio::task::block_in_place(|| broker.run_action("wipe"));
    });
    assert_eq!(answer, vec!["mailed"; 3]);
    assert_eq!(
        stack.query_count("SELECT count(*) FROM sends").await,
        1,
        "it was answered without being sent again"
    );
    assert_one_card_each(&stack, 3).await;
}

/// Every kind of death a few times.
fn strikes() -> Vec<ChaosFault> {
    use ChaosFault::{Broker, Gateway, Postgres, WipedBroker, Worker};
    let mut strikes = vec![Postgres, Postgres, Broker, Broker, WipedBroker, WipedBroker];
    strikes.extend([0, 1, 0, 1].map(Worker));
    strikes.extend([0, 1, 0].map(Gateway));
    strikes
}

/// Sends a batch to one gateway or the other until it is answered.
async fn insist(urls: &[String; 2], batch: Vec<Value>, until: Instant) -> Vec<Value> {
    let client = reqwest::Client::builder()
        .timeout(Duration::from_secs(12))
        .build()
        .unwrap();
    let body = json!({"campaign_id": CAMPAIGN, "recipients": batch}).to_string();
    let mut turn = 0;
    while Instant::now() < until {
        turn += 1;
        let url = format!("{}/api/v1/recipients", urls[turn % 2]);
        let answer = client
            .post(url)
            .header("x-api-key", KEY)
            .body(body.clone())
            .send()
            .await;
        if let Ok(answer) = answer
            && answer.status() == 200
            && let Ok(json) = answer.json::<Value>().await
        {
            return json["results"].as_array().unwrap().clone();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("a batch was not answered");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn chaos_leaves_one_card_and_one_charge_for_each_address() {
    const SEED: u64 = 20_261_121;
    const CLIENTS: usize = 4;
    let servers = PrivateServers::start().await;
    let mut settings = quick_leases();
    settings.extend(servers.settings());
    settings.push(("GATEWAY__CALL_DEADLINE_MS", "8000".to_owned()));
    // Provisions the team and looks into the database; its own gateway has no worker and is not used.
    let stack = TestStack::on_servers(settings).await;
    stack.save_campaign(json!({})).await;
    let mut world = ChaosFleet::start(servers, "mailer", &stack.settings);
    let striking = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (striking, urls) = (striking.clone(), world.urls());
            tokio::spawn(async move {
                let mut sent = 0;
                // Batches of neighbours overlap, so that requests also meet on the same addresses.
                while sent < 3
                    || (striking.load(std::sync::atomic::Ordering::Relaxed) && sent < 400)
                {
                    let first = 1 + client * 10_000 + sent * 15;
                    let until = Instant::now() + Duration::from_secs(120);
                    insist(&urls, build_recipients(first..first + 20), until).await;
                    sent += 1;
                }
                sent
            })
        })
        .collect();
    let mut random = StdRng::seed_from_u64(SEED);
    let mut strikes = strikes();
    world
        .strike_all(&mut strikes, Duration::from_millis(1500), &mut random)
        .await;
    striking.store(false, std::sync::atomic::Ordering::Relaxed);
    let mut batches = 0;
    let mut addresses = 0;
    for client in clients {
        let sent = client.await.unwrap();
        batches += sent;
        addresses += sent * 15 + 5;
    }
    println!("struck {strikes:?}; {batches} batches over {addresses} addresses answered");
    let stack = stack.reconnect().await;
    wait_until("nothing stays open", async || {
        stack
            .query_count("SELECT count(*) FROM sends WHERE state = 'reserved'")
            .await
            == 0
    })
    .await;
    assert_one_card_each(&stack, i64::try_from(addresses).unwrap()).await;
}
