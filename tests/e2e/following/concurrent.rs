//! Readers beside writers whose clocks differ, two gateways that are killed, and readers that die between a page and its cursor.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use pillarbox_tests::{
    KEY, SpawnedProcess, TestStack, build_recipients, find_free_port, wait_until,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use runtime::Clock;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_postgres::Client;
use uuid::Uuid;

use super::{ListReader, ids_of};

const WRITERS: u64 = 6;
const TRANSACTIONS: u64 = 20;

/// A charge with mailpieces, as those that are there.
const CHARGE: &str = "
    INSERT INTO charges SELECT made.* FROM charges charge,
        jsonb_populate_record(charge, jsonb_build_object('charge_id', $1::uuid, 'mailpieces', cardinality($2::uuid[]))) made
    WHERE charge.charge_id = (SELECT charge_id FROM charges ORDER BY charge_id LIMIT 1)";
const MAILPIECES: &str = "
    INSERT INTO mailpieces SELECT made.* FROM mailpieces mailpiece, unnest($2::uuid[]) AS new (id),
        jsonb_populate_record(mailpiece, jsonb_build_object('charge_id', $1::uuid, 'mailpiece_id', new.id, 'code', NULL)) made
    WHERE mailpiece.mailpiece_id = (SELECT mailpiece_id FROM mailpieces ORDER BY mailpiece_id LIMIT 1)";
const NOTE: &str = "
    INSERT INTO feed_batches (team_id, feed, batch_id, item_ids, item_kind)
    SELECT team_id, 'mailpieces', $1, $2, $3 FROM charges ORDER BY charge_id LIMIT 1";

/// An id as a process makes it whose clock is off by so much.
fn id_at(at: DateTime<Utc>, random: &mut StdRng) -> Uuid {
    let mut bytes = [0; 10];
    random.fill(&mut bytes);
    uuid::Builder::from_unix_timestamp_millis(at.timestamp_millis().cast_unsigned(), &bytes)
        .into_uuid()
}

/// Pays for mailpieces and changes some of them, in transactions that commit in another order than they write. Returns what was
/// paid, and how often each has changed.
async fn keep_writing(client: Client, writer: u64) -> (Vec<Uuid>, HashMap<Uuid, usize>) {
    let mut random = StdRng::seed_from_u64(writer);
    let skew = TimeDelta::seconds(random.random_range(-300..=300));
    let (mut paid, mut changes) = (Vec::new(), HashMap::new());
    for _ in 0..TRANSACTIONS {
        let now = Utc::now() + skew;
        let charge_id = id_at(now, &mut random);
        let count = random.random_range(1..=5);
        let ids: Vec<Uuid> = (0..count).map(|_| id_at(now, &mut random)).collect();
        client.batch_execute("BEGIN").await.unwrap();
        client.execute(CHARGE, &[&charge_id, &ids]).await.unwrap();
        client
            .execute(MAILPIECES, &[&charge_id, &ids])
            .await
            .unwrap();
        let note = id_at(now, &mut random);
        client
            .execute(NOTE, &[&note, &vec![charge_id], &"charge"])
            .await
            .unwrap();
        let changed = &ids[..random.random_range(0..ids.len())];
        if !changed.is_empty() {
            let note = id_at(now, &mut random);
            client
                .execute(NOTE, &[&note, &changed.to_vec(), &"mailpiece"])
                .await
                .unwrap();
        }
        tokio::time::sleep(Duration::from_millis(random.random_range(0..20))).await;
        let is_undone = random.random_range(0..10) == 0;
        let end = if is_undone { "ROLLBACK" } else { "COMMIT" };
        client.batch_execute(end).await.unwrap();
        if !is_undone {
            for id in ids.iter().chain(changed) {
                *changes.entry(*id).or_default() += 1;
            }
            paid.extend(ids);
        }
    }
    (paid, changes)
}

type Writer = JoinHandle<(Vec<Uuid>, HashMap<Uuid, usize>)>;

async fn start_writers(stack: &TestStack) -> Vec<Writer> {
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let client = stack.open_second_session().await;
        writers.push(tokio::spawn(keep_writing(client, writer)));
    }
    writers
}

fn have_ended(writers: &[Writer]) -> bool {
    writers.iter().all(JoinHandle::is_finished)
}

/// What writers have written, the mailpieces that were there included.
async fn written(
    writers: Vec<Writer>,
    before: &[Value],
) -> (HashSet<String>, HashMap<String, usize>) {
    let mut paid: HashSet<String> = ids_of(before).into_iter().collect();
    let mut changes: HashMap<String, usize> = paid.iter().map(|id| (id.clone(), 1)).collect();
    for writer in writers {
        let (ids, changed) = writer.await.unwrap();
        paid.extend(ids.iter().map(Uuid::to_string));
        changes.extend(changed.iter().map(|(id, times)| (id.to_string(), *times)));
    }
    (paid, changes)
}

fn count_ids(ids: &[String]) -> HashMap<String, usize> {
    let mut counted = HashMap::new();
    for id in ids {
        *counted.entry(id.clone()).or_default() += 1;
    }
    counted
}

async fn with_mailpieces() -> (TestStack, Vec<Value>) {
    let stack = TestStack::start().await;
    stack.send_recipients(&build_recipients(1..4)).await;
    let mut reader = ListReader::new(&stack, "/api/v1/mailpieces", "mailpieces");
    let before = reader.rest().await;
    (stack, before)
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_of_two_gateways_whose_clocks_differ_get_each_change_once_and_in_one_order() {
    let (mut stack, before) = with_mailpieces().await;
    let clock = std::mem::replace(&mut stack.clock, Clock::system());
    stack.clock.advance(TimeDelta::seconds(5));
    let second = stack.start_second_gateway().await;
    stack.clock = clock;
    let writers = start_writers(&stack).await;
    let follow = async |path: &'static str, turn: usize| {
        let mut reader = ListReader::new(&stack, path, "mailpieces");
        let gateways = [stack.url.clone(), second.clone()];
        let (mut seen, mut number) = (Vec::new(), turn);
        loop {
            let is_last = have_ended(&writers);
            reader.url.clone_from(&gateways[number % 2]);
            number += 1;
            let page = reader.next().await;
            seen.extend(ids_of(&page.items));
            if is_last && !page.has_more {
                return seen;
            }
        }
    };
    const CHARGED: &str = "/api/v1/mailpieces?limit=7";
    const CHANGED: &str = "/api/v1/mailpieces?changes=true&limit=7";
    let (charged, changed, other) =
        tokio::join!(follow(CHARGED, 0), follow(CHANGED, 0), follow(CHANGED, 1));
    let (paid, changes) = written(writers, &before).await;
    assert_eq!(charged.len(), paid.len(), "none twice");
    assert_eq!(charged.iter().cloned().collect::<HashSet<_>>(), paid);
    assert_eq!(count_ids(&changed), changes, "each change once");
    assert_eq!(changed, other, "in one order");
    let later = ListReader::new(&stack, CHARGED, "mailpieces").rest().await;
    assert_eq!(ids_of(&later), charged, "whoever reads it later, too");
}

#[tokio::test(flavor = "multi_thread")]
async fn gateways_that_are_killed_and_readers_that_die_lose_and_double_nothing() {
    let (stack, before) = with_mailpieces().await;
    let ports = [find_free_port(), find_free_port()];
    let start = |port: u16| {
        let mut settings = stack.settings.clone();
        let listen = format!("127.0.0.1:{port}");
        settings.insert("PILLARBOX__GATEWAY__LISTEN".to_owned(), listen);
        SpawnedProcess::start("gateway", &settings, None)
    };
    let mut gateways = ports.map(start);
    let client = reqwest::Client::new();
    let read = async |port: u16, cursor: &str| {
        let cursor = if cursor.is_empty() {
            String::new()
        } else {
            format!("&cursor={cursor}")
        };
        let url = format!("http://127.0.0.1:{port}/api/v1/mailpieces?changes=true&limit=5{cursor}");
        let sent = client.get(url).header("x-api-key", KEY).send().await;
        let answer = sent.ok().filter(|answer| answer.status() == 200)?;
        answer.json::<Value>().await.ok()
    };
    for port in ports {
        wait_until("the gateway answers", async || {
            read(port, "").await.is_some()
        })
        .await;
    }
    let writers = start_writers(&stack).await;
    let mut random = StdRng::seed_from_u64(7);
    // What a client keeps in one transaction: its rows and where it goes on.
    let (mut kept, mut cursor) = (Vec::new(), String::new());
    let (mut pages, mut kills, mut deaths) = (0, 0, 0);
    loop {
        let is_last = have_ended(&writers);
        let number = random.random_range(0..2_usize);
        let Some(page) = read(ports[number], &cursor).await else {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        pages += 1;
        if pages % 9 == 0 {
            gateways[number].kill();
            gateways[number] = start(ports[number]);
            kills += 1;
        }
        if random.random_range(0..4) == 0 {
            // The reader dies before it keeps the page, and begins again from what it has kept.
            deaths += 1;
            continue;
        }
        kept.extend(ids_of(page["mailpieces"].as_array().unwrap()));
        page["next_cursor"]
            .as_str()
            .unwrap()
            .clone_into(&mut cursor);
        if is_last && page["has_more"] == false {
            break;
        }
    }
    let (_, changes) = written(writers, &before).await;
    assert_eq!(count_ids(&kept), changes, "{kills} kills, {deaths} deaths");
    assert!(kills > 0 && deaths > 0);
}
