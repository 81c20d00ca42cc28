//! GET /api/v1/scans in the order of commits: a reader that goes on from answer to answer gets each scan once, whoever
//! commits when.

use std::collections::HashSet;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use pillarbox_tests::{
    KEY, StackOptions, TestStack, build_recipients, list_codes, wait_until, with_qr_codes,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use reqwest::Method;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

const RECORD: &str = "
    INSERT INTO scans (team_id, scan_id, mailpiece_id, campaign_id, visitor, destination, scanned_at)
    SELECT team_id, new.scan_id, mailpiece_id, campaign_id, 'person', 'https://example.com/', now()
    FROM unnest($1::uuid[]) AS new (scan_id), (SELECT * FROM mailpieces LIMIT 1) mailpiece";

/// A client of the feed, and where it is.
struct Reader<'a> {
    stack: &'a TestStack,
    after: String,
}

/// A page as a client sees it.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    ids: Vec<String>,
    next_after: String,
}

async fn with_a_card() -> TestStack {
    let (stack, _) = with_qr_codes(StackOptions::default()).await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..2))
            .await
            .reasons(),
        ["mailed"]
    );
    stack
}

async fn page(stack: &TestStack, query: &str) -> Page {
    let url = format!("{}/api/v1/scans{query}", stack.url);
    let answer = stack
        .request(Method::GET, &url, &[("x-api-key", KEY)], "")
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let json = answer.json();
    let ids = json["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["id"].as_str().unwrap().to_owned());
    Page {
        ids: ids.collect(),
        next_after: json["nextAfter"].as_str().unwrap().to_owned(),
    }
}

impl<'a> Reader<'a> {
    /// One that begins now.
    async fn now(stack: &'a TestStack) -> Self {
        Self {
            stack,
            after: page(stack, "").await.next_after,
        }
    }

    fn from(stack: &'a TestStack, after: impl ToString) -> Self {
        Self {
            stack,
            after: after.to_string(),
        }
    }

    async fn next(&mut self) -> Vec<String> {
        let page = page(self.stack, &format!("?after={}", self.after)).await;
        self.after = page.next_after;
        page.ids
    }

    /// All that there is now, page by page.
    async fn rest(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let (before, ids) = (self.after.clone(), self.next().await);
            if ids.is_empty() && before == self.after {
                return all;
            }
            all.extend(ids);
        }
    }
}

/// Another session, as a gateway of its own would have.
async fn session(stack: &TestStack) -> Client {
    let url = &stack.settings["PILLARBOX__DATABASE__URL"];
    let (client, connection) = tokio_postgres::connect(url, NoTls)
        .await
        .expect("the database answers");
    tokio::spawn(connection);
    client
}

/// An id as a gateway makes it whose clock is off by so much.
fn id_at(at: DateTime<Utc>, random: u64) -> Uuid {
    let mut bytes = [0x5a; 10];
    bytes[2..].copy_from_slice(&random.to_be_bytes());
    uuid::Builder::from_unix_timestamp_millis(at.timestamp_millis().cast_unsigned(), &bytes)
        .into_uuid()
}

async fn record(client: &Client, ids: &[Uuid]) {
    client
        .execute(RECORD, &[&ids])
        .await
        .expect("scans are recorded");
}

fn event(id: Uuid) -> String {
    format!("evt_{}", id.simple())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_that_commits_behind_a_later_one_is_told_behind_it() {
    let stack = with_a_card().await;
    let mut reader = Reader::now(&stack).await;
    let begin = reader.after.clone();
    let (earlier, later) = (
        id_at(Utc::now(), 1),
        id_at(Utc::now() + TimeDelta::seconds(1), 2),
    );
    let (slow, quick) = (session(&stack).await, session(&stack).await);
    slow.batch_execute("BEGIN").await.unwrap();
    record(&slow, &[earlier]).await;
    record(&quick, &[later]).await;
    assert_eq!(reader.next().await, [event(later)]);
    slow.batch_execute("COMMIT").await.unwrap();
    assert_eq!(
        reader.next().await,
        [event(earlier)],
        "it is told, though its id is less than one told before"
    );
    assert_eq!(reader.next().await, [""; 0]);
    assert_eq!(
        Reader::from(&stack, begin).rest().await,
        [event(later), event(earlier)],
        "and stays in its place"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_beside_many_writers_whose_clocks_differ_get_each_scan_once_and_in_one_order() {
    const WRITERS: u64 = 8;
    const TRANSACTIONS: u64 = 25;
    let stack = with_a_card().await;
    let begin = Reader::now(&stack).await.after;
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let client = session(&stack).await;
        writers.push(tokio::spawn(async move {
            let mut random = StdRng::seed_from_u64(writer);
            let skew = TimeDelta::seconds(random.random_range(-300..=300));
            let mut written = Vec::new();
            for number in 0..TRANSACTIONS {
                let count = random.random_range(1..=5);
                let ids: Vec<Uuid> = (0..count)
                    .map(|scan| id_at(Utc::now() + skew, writer << 32 | number << 8 | scan))
                    .collect();
                client.batch_execute("BEGIN").await.unwrap();
                record(&client, &ids).await;
                // Commits in another order than inserts.
                tokio::time::sleep(Duration::from_millis(random.random_range(0..20))).await;
                let is_undone = random.random_range(0..10) == 0;
                client
                    .batch_execute(if is_undone { "ROLLBACK" } else { "COMMIT" })
                    .await
                    .unwrap();
                if !is_undone {
                    written.extend(ids.into_iter().map(event));
                }
            }
            written
        }));
    }
    // Three readers meanwhile, who also compete for giving out positions.
    let follow = async || {
        let (mut reader, mut seen) = (Reader::from(&stack, &begin), Vec::new());
        while !writers.iter().all(tokio::task::JoinHandle::is_finished) {
            seen.extend(reader.next().await);
        }
        seen.extend(reader.rest().await);
        seen
    };
    let (one, two, three) = tokio::join!(follow(), follow(), follow());
    let mut written = HashSet::new();
    for writer in writers {
        written.extend(writer.await.unwrap());
    }
    assert_eq!(one.len(), written.len(), "none twice");
    assert_eq!(
        one.iter().cloned().collect::<HashSet<_>>(),
        written,
        "none left out"
    );
    assert_eq!((&one, &one), (&two, &three), "in one order");
    assert_eq!(
        Reader::from(&stack, &begin).rest().await,
        one,
        "whoever reads it later, too"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_stays_open_holds_up_nobody() {
    let stack = with_a_card().await;
    let mut reader = Reader::now(&stack).await;
    let (idle, other) = (session(&stack).await, session(&stack).await);
    let (held, scan) = (Uuid::now_v7(), Uuid::now_v7());
    idle.batch_execute("BEGIN; CREATE TABLE unrelated ()")
        .await
        .unwrap();
    record(&idle, &[held]).await;
    record(&other, &[scan]).await;
    assert_eq!(reader.next().await, [event(scan)]);
    idle.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(reader.next().await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_that_were_cursors_go_on_working_over_what_was_recorded_before_there_was_a_feed() {
    let stack = with_a_card().await;
    let begin = Utc::now() - TimeDelta::hours(2);
    let old: Vec<Uuid> = (0..250)
        .map(|number| id_at(begin + TimeDelta::seconds(number), 7))
        .collect();
    record(&stack.sql, &old).await;
    // As the migration leaves it.
    stack
        .sql
        .batch_execute("DELETE FROM feed_batches")
        .await
        .unwrap();
    let mut reader = Reader::from(&stack, old[9]);
    let seen = reader.rest().await;
    assert_eq!(
        seen,
        old[10..].iter().copied().map(event).collect::<Vec<_>>()
    );
    // From there on the order is that of the feed.
    let new = [Uuid::now_v7(), id_at(begin, 1)];
    for id in new {
        record(&stack.sql, &[id]).await;
        assert_eq!(reader.rest().await, [event(id)]);
    }
    let again: HashSet<String> = Reader::from(&stack, old[200])
        .rest()
        .await
        .into_iter()
        .collect();
    let wanted = old[201..]
        .iter()
        .chain(&new)
        .copied()
        .map(event)
        .collect::<HashSet<_>>();
    assert_eq!(
        again, wanted,
        "also for one who comes when the feed has begun"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_from_before_a_restore_misses_nothing_that_came_after_it() {
    let stack = with_a_card().await;
    let begin = Reader::now(&stack).await.after;
    let ids: Vec<Uuid> = (0..6).map(|number| id_at(Utc::now(), number)).collect();
    for id in &ids {
        record(&stack.sql, &[*id]).await;
    }
    let mut reader = Reader::from(&stack, begin);
    assert_eq!(reader.rest().await.len(), 6);
    // The backup has the first three: their positions stand, those of the others are given out again.
    stack
        .sql
        .batch_execute(
            "DELETE FROM scans WHERE scan_id IN (SELECT unnest(item_ids) FROM feed_batches WHERE position > 3);
             DELETE FROM feed_batches WHERE position > 3; UPDATE feeds SET position = 3",
        )
        .await
        .unwrap();
    let after: Vec<Uuid> = (10..15).map(|number| id_at(Utc::now(), number)).collect();
    for id in &after {
        record(&stack.sql, &[*id]).await;
    }
    let seen: HashSet<String> = reader.rest().await.into_iter().collect();
    assert!(
        after.iter().all(|id| seen.contains(&event(*id))),
        "{seen:?}"
    );
    let next = Uuid::now_v7();
    record(&stack.sql, &[next]).await;
    assert_eq!(
        reader.rest().await,
        [event(next)],
        "and from there on each comes once"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_of_a_feed_stops_no_reader() {
    let stack = with_a_card().await;
    let mut reader = Reader::now(&stack).await;
    for _ in 0..2 {
        record(&stack.sql, &[Uuid::now_v7()]).await;
    }
    assert_eq!(reader.rest().await.len(), 2);
    stack
        .store
        .purge_scan_feed(Utc::now() + TimeDelta::days(1), 100)
        .await
        .unwrap();
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM feed_batches WHERE feed = 'scans'")
            .await,
        1,
        "the newest stays"
    );
    // Those who come now, and those who were there.
    let mut newcomer = Reader::now(&stack).await;
    let next = Uuid::now_v7();
    record(&stack.sql, &[next]).await;
    assert_eq!(newcomer.rest().await, [event(next)]);
    assert_eq!(reader.rest().await, [event(next)]);
    let last = Uuid::now_v7();
    record(&stack.sql, &[last]).await;
    assert_eq!(
        (newcomer.rest().await, reader.rest().await),
        (vec![event(last)], vec![event(last)])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_at_the_end_of_a_feed_that_was_forgotten_gets_what_a_clock_behind_records() {
    let stack = with_a_card().await;
    let mut reader = Reader::now(&stack).await;
    record(&stack.sql, &[id_at(Utc::now(), 1)]).await;
    assert_eq!(reader.rest().await.len(), 1);
    stack
        .store
        .purge_scan_feed(Utc::now() + TimeDelta::days(1), 100)
        .await
        .unwrap();
    let behind = id_at(Utc::now() - TimeDelta::days(1), 2);
    record(&stack.sql, &[behind]).await;
    assert_eq!(reader.rest().await, [event(behind)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_that_nobody_reads_are_placed_by_the_dispatcher() {
    let (stack, _sink) = with_qr_codes(StackOptions::default()).await;
    stack.send_recipients(&build_recipients(1..2)).await;
    stack.scan_code(&list_codes(&stack).await[0]).await;
    assert_eq!(
        stack
            .query_count(
                "SELECT count(*) FROM feed_batches WHERE feed = 'scans' AND position IS NULL"
            )
            .await,
        1
    );
    let _dispatcher = pillarbox_tests::SpawnedProcess::start("dispatcher", &stack.settings, None);
    wait_until("it has a position", async || {
        stack
            .query_count("SELECT count(*) FROM feed_batches WHERE feed = 'scans' AND position = 1")
            .await
            == 1
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_has_ten_questions_held_open_and_the_next_one_answered_at_once() {
    let stack = with_a_card().await;
    let query = format!("?after={}&wait=25", Reader::now(&stack).await.after);
    let mut questions: FuturesUnordered<_> = (0..11).map(|_| page(&stack, &query)).collect();
    let first = questions.next().await.unwrap();
    assert_eq!(first.ids, [""; 0], "there is nothing yet");
    let scan = Uuid::now_v7();
    record(&stack.sql, &[scan]).await;
    let held: Vec<Vec<String>> = questions.map(|page| page.ids).collect().await;
    assert_eq!(held, vec![[event(scan)]; 10], "the others were held open");
}
