//! Events of mailpieces: made by following each team's feed, for teams with an endpoint that wants them. A mailer makes them, which
//! knows whom it mails; the dispatchers find the deliveries in their next look.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use contract::webhook::{
    EventCampaign, EventId, EventRecipient, MailpieceChanged, MailpieceEventState, non_empty,
};
use model::id::TeamId;
use runtime::housekeeping::record_failure;
use runtime::{Process, fail_point};
use store::{
    ChangedItem, FeedKind, FollowerPlace, NewMailpieceNews, StoreError, ToldFact, retry_conflicts,
};
use uuid::Uuid;

/// How long the process that makes events may be silent before another one does.
const LEASE: TimeDelta = TimeDelta::minutes(1);

/// Teams that one statement finds.
const TEAMS: i64 = 500;

/// Items of a feed, or places of a print run, that are done in one transaction.
const ITEMS: i64 = 1_000;
const PLACES: i32 = 1_000;

/// Portions of a team before it is the next one's turn.
const PORTIONS: usize = 5;

/// Facts that we heard of longer ago are not told any more: their events may be forgotten, so that nobody knows whether they were.
const NEWEST: TimeDelta = TimeDelta::days(7);

/// Makes events of mailpieces until the process is to stop.
pub async fn keep_making_news(process: &Process) {
    let settings = &process.config.dispatcher;
    let mut rounds = process.rounds(Duration::from_millis(settings.sweep_interval_ms));
    while rounds.next().await {
        record_failure("make events of mailpieces", make_round(process).await);
    }
}

/// Some portions of every team that has news.
async fn make_round(process: &Process) -> Result<(), StoreError> {
    let mut after = Uuid::nil();
    loop {
        let is_ours = process.has_duty("events of mailpieces", LEASE).await?;
        if !is_ours || process.shutdown.is_cancelled() {
            return Ok(());
        }
        let teams = process.store.list_followers_with_news(after, TEAMS).await?;
        for team_id in &teams {
            follow_team(process, *team_id).await?;
        }
        match teams.last() {
            Some(last) if i64::try_from(teams.len()).unwrap_or(TEAMS) == TEAMS => after = last.0,
            _ => return Ok(()),
        }
    }
}

async fn follow_team(process: &Process, team_id: TeamId) -> Result<(), StoreError> {
    let store = &process.store;
    store
        .place_feed_items(team_id, FeedKind::Mailpieces)
        .await?;
    for _ in 0..PORTIONS {
        let is_leaving = process.shutdown.is_cancelled();
        if is_leaving || !follow_portion(process, team_id).await? {
            break;
        }
    }
    Ok(())
}

/// One transaction: events, and the place behind what they tell. False when there is nothing more.
async fn follow_portion(process: &Process, team_id: TeamId) -> Result<bool, StoreError> {
    let (store, now) = (&process.store, process.clock.now());
    let Some((from, wanted)) = store.find_follower(team_id).await? else {
        return Ok(false);
    };
    let (to, facts) = if wanted.is_empty() {
        // Nobody listens: what happens meanwhile is not told later.
        let (end, _) = store.find_feed_end(team_id, FeedKind::Mailpieces).await?;
        (place_at(end), Vec::new())
    } else {
        read_portion(process, team_id, from, &wanted, now - NEWEST).await?
    };
    if to == from {
        return Ok(false);
    }
    let news = facts
        .iter()
        .map(build_news)
        .collect::<Result<Vec<_>, StoreError>>()?;
    retry_conflicts(|| async {
        let mut connection = store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        if !news.is_empty() {
            transaction
                .record_mailpiece_news(team_id, &news, now)
                .await?;
        }
        transaction.advance_follower(team_id, from, to).await?;
        fail_point::fail_if_chosen("news.making");
        transaction.commit().await
    })
    .await?;
    fail_point::fail_if_chosen("news.made");
    Ok(true)
}

const fn place_at(position: i64) -> FollowerPlace {
    FollowerPlace {
        position,
        run_position: 0,
    }
}

/// Facts of the next items: mailpieces up to a print run, or a part of a print run.
async fn read_portion(
    process: &Process,
    team_id: TeamId,
    from: FollowerPlace,
    wanted: &[String],
    since: DateTime<Utc>,
) -> Result<(FollowerPlace, Vec<ToldFact>), StoreError> {
    let store = &process.store;
    let items = store
        .list_changed_items(team_id, from.position, ITEMS)
        .await?;
    if let Some((position, ChangedItem::PrintRun(run_id, places))) = items.first().copied() {
        let until = from.run_position.saturating_add(PLACES);
        let part = (run_id, from.run_position, until);
        let facts = store
            .list_told_facts_of_run(team_id, part, since, wanted)
            .await?;
        let to = if until >= places {
            place_at(position)
        } else {
            FollowerPlace {
                position: from.position,
                run_position: until,
            }
        };
        return Ok((to, facts));
    }
    let (mut mailpieces, mut to) = (Vec::new(), from);
    for (position, item) in items {
        match item {
            ChangedItem::PrintRun(..) => break,
            ChangedItem::Mailpiece(mailpiece_id) => mailpieces.push(mailpiece_id),
            // What was made is told by the answer to its request.
            ChangedItem::Charge(_) => {}
        }
        to = place_at(position);
    }
    mailpieces.sort_unstable();
    mailpieces.dedup();
    if mailpieces.is_empty() {
        return Ok((to, Vec::new()));
    }
    let facts = store
        .list_told_facts(team_id, &mailpieces, since, wanted)
        .await?;
    Ok((to, facts))
}

/// The id of a fact's event: in the order of the moments at which we heard of facts, as all ids of events are, and the same for the
/// same fact.
fn event_id(fact: &ToldFact) -> Uuid {
    let mut hasher = blake3::Hasher::new();
    hasher.update(fact.mailpiece.mailpiece_id.0.as_bytes());
    hasher.update(fact.state.as_bytes());
    hasher.update(fact.fact_id.as_bytes());
    let mut random = [0; 10];
    random.copy_from_slice(&hasher.finalize().as_bytes()[..10]);
    let millis = u64::try_from(fact.recorded_at.timestamp_millis()).unwrap_or_default();
    uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

fn build_news(fact: &ToldFact) -> Result<NewMailpieceNews, StoreError> {
    let (card, event_id) = (&fact.mailpiece, event_id(fact));
    let (address_1, address_2) =
        address::lines_as_sent(&card.line_1, &card.line_2, &card.unit_apart);
    let state = MailpieceEventState::from_name(&fact.state)
        .ok_or_else(|| StoreError::Corrupt("the state of an event".to_owned()))?;
    let event = MailpieceChanged {
        id: EventId {
            id: event_id,
            is_test: false,
        },
        state,
        occurred_at: fact.occurred_at,
        basis: &fact.basis,
        mailpiece_id: card.mailpiece_id.0,
        campaign: EventCampaign {
            id: &card.campaign_id,
            name: &card.campaign_name,
        },
        recipient: EventRecipient {
            first_name: non_empty(&card.first_name),
            last_name: non_empty(&card.last_name),
            email: non_empty(&card.email),
            phone: non_empty(&card.phone),
            address_1: non_empty(&address_1),
            address_2: non_empty(&address_2),
            city: non_empty(&card.city),
            state: non_empty(&card.state),
            zip: non_empty(&card.zip),
        },
        detail: non_empty(&fact.detail),
    };
    Ok(NewMailpieceNews {
        event_id,
        campaign_id: card.campaign_id.clone(),
        state: fact.state.clone(),
        body: event.to_json()?,
        recorded_at: fact.recorded_at,
    })
}
