//! A burst of requests on one queue: two mailers against one, and one of two killed in the middle.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use chrono::Utc;
use futures_util::future::{join_all, try_join_all};
use tokio::sync::Notify;

use crate::figures::Figure;
use crate::fleet::Fleet;
use crate::load::{CAMPAIGNS, Sender, body, store};
use crate::samples::Samples;
use crate::send::{ROUNDS, Stack};
use crate::step;

/// Requests of a burst, over all campaigns.
const REQUESTS: usize = 32;

/// Recipients in each.
const RECIPIENTS: usize = 250;

/// Answers after which one of two mailers is killed.
const ANSWERS_BEFORE_KILL: usize = REQUESTS / 4;

/// Two mailers are to be no slower than one. On two cores that are busy with either set-up the two are equal, and
/// equal set-ups differ by a few per cent from burst to burst: this much is no difference.
const NO_SLOWER: f64 = 1.1;

/// How long it may take until all recipients are findable, and how often that is looked at.
const FINDABLE_TIMEOUT: Duration = Duration::from_secs(60);
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// Days in which an address is mailed once, as the configuration has it by default.
const DUPLICATE_DAYS: i32 = 30;

pub(super) async fn measure(stack: &mut Stack) -> anyhow::Result<Vec<Figure>> {
    let mut figures = one_against_two(stack).await?;
    figures.extend(one_of_two_killed(stack).await?);
    Ok(figures)
}

fn bodies(stack: &mut Stack) -> Vec<String> {
    let campaign = |number: usize| CAMPAIGNS[number % CAMPAIGNS.len()];
    (0..REQUESTS)
        .map(|number| body(campaign(number), &stack.people.take(RECIPIENTS)))
        .collect()
}

async fn one_against_two(stack: &mut Stack) -> anyhow::Result<Vec<Figure>> {
    step("a burst on one mailer and on two");
    let (mut one, mut two) = (Samples::default(), Samples::default());
    for round in 0..=ROUNDS {
        until_all_findable(stack).await?;
        let alone = burst(stack).await?;
        stack.fleet.add_mailer().await?;
        // A request each opens the new mailer's connections; the burst is not about that.
        burst(stack).await?;
        until_all_findable(stack).await?;
        let together = burst(stack).await?;
        stack
            .fleet
            .mailers
            .pop()
            .context("a second mailer")?
            .terminate()?;
        if round > 0 {
            one.push(alone);
            two.push(together);
        }
    }
    let ratio = two.median_ms() / one.median_ms();
    Ok(vec![
        Figure::new(
            "burst of 32 requests of 250: one mailer",
            one.median_ms(),
            "ms",
        ),
        Figure::new(
            "burst of 32 requests of 250: two mailers",
            two.median_ms(),
            "ms",
        ),
        Figure::new("burst: two mailers against one", ratio, "times").at_most(NO_SLOWER),
    ])
}

/// What earlier bursts have left to be made findable is not this one's work.
async fn until_all_findable(stack: &Stack) -> anyhow::Result<()> {
    let client = stack.database.client().await?;
    let begun = Instant::now();
    while client
        .query_one("SELECT EXISTS (SELECT FROM recipients_unsearched)", &[])
        .await?
        .get(0)
    {
        ensure!(
            begun.elapsed() < FINDABLE_TIMEOUT,
            "recipients are not made findable"
        );
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
    Ok(())
}

async fn burst(stack: &mut Stack) -> anyhow::Result<Duration> {
    let bodies = bodies(stack);
    let begun = Instant::now();
    try_join_all(
        bodies
            .into_iter()
            .map(|body| stack.sender.send(body, RECIPIENTS)),
    )
    .await?;
    Ok(begun.elapsed())
}

/// Every request is answered, and every address has one card.
async fn one_of_two_killed(stack: &mut Stack) -> anyhow::Result<Vec<Figure>> {
    step("a burst on two mailers, one of them killed");
    let since = Utc::now();
    let mut fleet = Fleet::start(&stack.database, 2).await?;
    let sender = Sender::new(&fleet.url)?;
    let (answered, enough) = (AtomicUsize::new(0), Notify::new());
    let requests = bodies(stack).into_iter().map(|body| async {
        let answer = sender.send_until_answered(body, RECIPIENTS).await;
        if answer.is_ok() && answered.fetch_add(1, Ordering::Relaxed) + 1 == ANSWERS_BEFORE_KILL {
            enough.notify_one();
        }
        answer
    });
    let begun = Instant::now();
    let killed = async {
        enough.notified().await;
        fleet.mailers[0].kill();
    };
    let (answers, ()) = tokio::join!(join_all(requests), killed);
    let took = begun.elapsed();
    let lost = answers.iter().filter(|answer| answer.is_err()).count();
    let cards =
        "SELECT count(*), count(DISTINCT address_id) FROM mailpieces WHERE created_at >= $1";
    let row = stack
        .database
        .client()
        .await?
        .query_one(cards, &[&since])
        .await?;
    let (cards, addresses): (i64, i64) = (row.get(0), row.get(1));
    let expected = (REQUESTS * RECIPIENTS) as i64;
    let wrong = (cards - expected).abs() + (addresses - expected).abs();
    let found = store(&stack.database)?
        .check_consistency(Utc::now(), DUPLICATE_DAYS, |_| {})
        .await?;
    Ok(vec![
        Figure::new(
            "burst, one of two mailers killed: whole burst",
            took.as_secs_f64(),
            "s",
        ),
        Figure::new(
            "burst, one killed: requests without an answer",
            lost as f64,
            "requests",
        )
        .at_most(0.0),
        Figure::new(
            "burst, one killed: cards too few or too many",
            wrong as f64,
            "cards",
        )
        .at_most(0.0),
        Figure::new(
            "burst, one killed: what `pillarbox check` finds",
            found.len() as f64,
            "rows",
        )
        .at_most(0.0),
    ])
}
