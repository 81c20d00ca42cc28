use std::collections::HashSet;

use super::*;

const LARGEST: usize = 100;

fn build_account(name: &str, share_bytes: usize) -> MemoryAccount {
    MemoryAccount {
        name: name.as_bytes().to_vec(),
        share_bytes,
    }
}

fn build_ledger(total_bytes: usize) -> MemoryLedger {
    MemoryLedger::new(MemoryLimits {
        total_bytes,
        largest_bytes: LARGEST,
    })
}

/// A sender on these accounts, each with a share of 200.
fn add_sender(ledger: &mut MemoryLedger, names: &[&str], now: Instant) -> (u64, Arc<HolderSignal>) {
    let accounts: Vec<MemoryAccount> = names.iter().map(|name| build_account(name, 200)).collect();
    let signal = Arc::<HolderSignal>::default();
    (
        ledger.add_holder(&accounts, true, signal.clone(), now),
        signal,
    )
}

/// An answer that is to be read.
fn add_answer(
    ledger: &mut MemoryLedger,
    name: &str,
    bytes: usize,
    now: Instant,
) -> (u64, Arc<HolderSignal>) {
    let signal = Arc::<HolderSignal>::default();
    let id = ledger.add_holder(&[build_account(name, 200)], false, signal.clone(), now);
    ledger.set_content(id, Bytes::from(vec![0; bytes]), now);
    (id, signal)
}

/// Asks; true when it is granted at once.
fn is_granted(ledger: &mut MemoryLedger, id: u64, bytes: usize, now: Instant) -> bool {
    ledger.request_bytes(id, bytes, now) == Asked::Granted
}

fn held_bytes(ledger: &MemoryLedger, id: u64) -> Option<usize> {
    ledger.holders.get(&id).map(|holder| holder.held)
}

#[test]
fn an_account_waits_for_itself_and_its_oldest_comes_to_its_end() {
    let (mut ledger, now) = (build_ledger(1_000), Instant::now());
    let ids: Vec<u64> = (0..4)
        .map(|_| add_sender(&mut ledger, &["greedy"], now).0)
        .collect();
    for id in &ids {
        is_granted(&mut ledger, *id, 60, now);
    }
    // The oldest has its own place, the others share what is left: 200 less the largest.
    assert_eq!(
        ids.iter()
            .map(|id| held_bytes(&ledger, *id).unwrap())
            .collect::<Vec<_>>(),
        [60, 60, 0, 0]
    );
    assert!(is_granted(&mut ledger, ids[0], 40, now), "it is the oldest");
    let (other, _) = add_sender(&mut ledger, &["other"], now);
    assert!(
        is_granted(&mut ledger, other, 90, now),
        "others do not wait for them"
    );
    ledger.close_holder(ids[0], now);
    assert_eq!(
        held_bytes(&ledger, ids[2]),
        Some(60),
        "who waits gets what becomes free"
    );
}

#[test]
fn in_an_account_the_slow_make_place_for_those_that_move() {
    let (mut ledger, begun) = (build_ledger(1_000), Instant::now());
    let (slow, signal) = add_sender(&mut ledger, &["own"], begun);
    let (foreign, foreign_signal) = add_sender(&mut ledger, &["other"], begun);
    let (second, _) = add_sender(&mut ledger, &["own"], begun);
    let (third, _) = add_sender(&mut ledger, &["own"], begun);
    assert!(
        is_granted(&mut ledger, slow, 100, begun)
            && is_granted(&mut ledger, foreign, 100, begun)
            && is_granted(&mut ledger, second, 80, begun)
    );
    assert!(!is_granted(&mut ledger, third, 80, begun));
    let later = begun + STALL;
    ledger.record_progress(second, STEP_BYTES, later);
    ledger.rebalance(later);
    assert!(signal.evicted.is_cancelled() && !foreign_signal.evicted.is_cancelled());
    assert_eq!(held_bytes(&ledger, third), Some(80));
}

#[test]
fn every_account_of_a_holder_has_its_share() {
    let (mut ledger, now) = (build_ledger(1_000), Instant::now());
    for (number, team) in ["a", "b", "c"].into_iter().enumerate() {
        let (id, _) = add_sender(&mut ledger, &[team, "source"], now);
        assert_eq!(
            is_granted(&mut ledger, id, 80, now),
            number < 2,
            "of a source with a share of 200, of which 100 are the oldest's"
        );
    }
}

#[test]
fn the_slow_make_place_for_others_as_soon_as_there_is_no_room() {
    let (mut ledger, begun) = (build_ledger(300), Instant::now());
    let (small, small_signal) = add_sender(&mut ledger, &["a"], begun);
    let (large, large_signal) = add_sender(&mut ledger, &["b"], begun);
    let (moving, moving_signal) = add_sender(&mut ledger, &["c"], begun);
    for (id, bytes) in [(small, 20), (large, 100), (moving, 80)] {
        assert!(is_granted(&mut ledger, id, bytes, begun));
    }
    let (newcomer, signal) = add_sender(&mut ledger, &["d"], begun);
    assert!(
        !is_granted(&mut ledger, newcomer, 50, begun),
        "there is no room, and nobody is slow yet"
    );
    let later = begun + STALL;
    ledger.record_progress(moving, STEP_BYTES, later);
    ledger.rebalance(later);
    assert_eq!(held_bytes(&ledger, newcomer), Some(50));
    assert!(
        large_signal.evicted.is_cancelled(),
        "of the slow ones the largest"
    );
    assert!(
        !small_signal.evicted.is_cancelled()
            && !moving_signal.evicted.is_cancelled()
            && !signal.evicted.is_cancelled()
    );
}

#[test]
fn who_holds_most_makes_place_when_others_have_waited_for_long() {
    let (mut ledger, begun) = (build_ledger(300), Instant::now());
    let senders: Vec<_> = ["a", "b", "c"]
        .map(|name| add_sender(&mut ledger, &[name], begun))
        .into();
    for ((id, _), bytes) in senders.iter().zip([70, 100, 80]) {
        assert!(is_granted(&mut ledger, *id, bytes, begun));
    }
    let (newcomer, _) = add_sender(&mut ledger, &["d"], begun);
    assert!(!is_granted(&mut ledger, newcomer, 50, begun));
    let later = begun + PATIENCE;
    for (id, _) in &senders {
        ledger.record_progress(*id, STEP_BYTES, later);
    }
    ledger.rebalance(later);
    assert_eq!(held_bytes(&ledger, newcomer), Some(50));
    let evicted: Vec<bool> = senders
        .iter()
        .map(|(_, signal)| signal.evicted.is_cancelled())
        .collect();
    assert_eq!(evicted, [false, true, false]);
}

#[test]
fn what_has_come_whole_makes_place_for_nobody() {
    let (mut ledger, begun) = (build_ledger(200), Instant::now());
    let (whole, signal) = add_sender(&mut ledger, &["a"], begun);
    let (other, _) = add_sender(&mut ledger, &["b"], begun);
    assert!(
        is_granted(&mut ledger, whole, 100, begun) && is_granted(&mut ledger, other, 90, begun)
    );
    ledger.mark_protected(whole);
    ledger.mark_protected(other);
    let (newcomer, _) = add_sender(&mut ledger, &["c"], begun);
    is_granted(&mut ledger, newcomer, 50, begun);
    ledger.rebalance(begun + 10 * PATIENCE);
    assert!(!signal.evicted.is_cancelled());
    assert_eq!(held_bytes(&ledger, newcomer), Some(0));
    ledger.close_holder(whole, begun);
    assert_eq!(held_bytes(&ledger, newcomer), Some(50));
}

#[test]
fn answers_that_are_not_read_make_place_for_new_ones_of_their_account_first() {
    let (mut ledger, now) = (build_ledger(1_000), Instant::now());
    let (_, foreign) = add_answer(&mut ledger, "other", 100, now);
    let own: Vec<_> = (0..2)
        .map(|_| add_answer(&mut ledger, "own", 100, now).1)
        .collect();
    let (third, signal) = add_answer(&mut ledger, "own", 100, now);
    assert!(
        own[0].evicted.is_cancelled() && !own[1].evicted.is_cancelled(),
        "the oldest of its own"
    );
    assert!(!foreign.evicted.is_cancelled() && !signal.evicted.is_cancelled());
    assert_eq!(
        ledger.next_bytes(third, 30, now).map(|bytes| bytes.len()),
        Some(30)
    );
    assert_eq!(
        held_bytes(&ledger, third),
        Some(100),
        "it counts until it has been read whole"
    );
}

/// Peers that send at any pace, stop, or go away, in any order: the budget holds, what is held adds up, and there is always one who
/// need not wait.
#[test]
fn whatever_peers_do_the_budget_holds_and_somebody_gets_on() {
    let begun = Instant::now();
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..200 {
        let mut ledger = build_ledger(300);
        let mut open: Vec<(u64, Arc<HolderSignal>)> = Vec::new();
        for step in 0..200_u32 {
            let now = begun + Duration::from_millis(20) * step;
            if random(4) == 0 {
                let team = format!("team {}", random(4));
                let source = format!("source {}", random(3));
                open.push(add_sender(&mut ledger, &[&team, &source], now));
            } else if !open.is_empty() {
                let index = random(open.len() as u64) as usize;
                let id = open[index].0;
                match random(5) {
                    0 => ledger.mark_protected(id),
                    1 => {
                        ledger.close_holder(id, now);
                        open.swap_remove(index);
                    }
                    2 => ledger.record_progress(id, STEP_BYTES, now),
                    _ => {
                        let has = ledger
                            .holders
                            .get(&id)
                            .filter(|holder| holder.wanted.is_none() && holder.is_with_peer);
                        if let Some(left) = has
                            .map(|holder| LARGEST - holder.held)
                            .filter(|left| *left > 0)
                        {
                            is_granted(&mut ledger, id, 1 + random(left as u64) as usize, now);
                        }
                    }
                }
            }
            open.retain(|(_, signal)| !signal.evicted.is_cancelled());
            assert_sound(&ledger);
            for later in [now, now + PATIENCE, now + STALL] {
                assert_plain_choice(&ledger, later);
            }
        }
        for (id, _) in open {
            ledger.close_holder(id, begun);
        }
        assert!(ledger.holders.is_empty() && ledger.shares.is_empty() && ledger.held == 0);
    }
}

fn assert_sound(ledger: &MemoryLedger) {
    let in_all: usize = ledger.holders.values().map(|holder| holder.held).sum();
    assert_eq!(in_all, ledger.held);
    assert!(ledger.held <= 300, "{}", ledger.held);
    assert!(
        ledger
            .shares
            .values()
            .all(|share| share.held <= share.limit)
    );
    let pressed = list_shortages(ledger);
    let waiting = ledger
        .holders
        .values()
        .filter(|holder| holder.wanted.is_some());
    assert_eq!(pressed.len(), waiting.count(), "what can be granted is");
    let oldest = ledger.holders.first_key_value();
    assert!(
        oldest.is_none_or(|(_, oldest)| oldest.wanted.is_none()),
        "the oldest never waits"
    );
    let names: HashSet<&Vec<u8>> = ledger
        .holders
        .values()
        .flat_map(|holder| &holder.accounts)
        .collect();
    assert_eq!(names.len(), ledger.shares.len());
}

/// Those who have to wait, and why.
fn list_shortages(ledger: &MemoryLedger) -> Vec<(u64, MemoryShortage)> {
    let wanted = ledger
        .holders
        .iter()
        .filter_map(|(id, holder)| Some((*id, holder.wanted?.bytes)));
    wanted
        .filter_map(|(id, bytes)| Some((id, ledger.find_shortage(id, bytes)?)))
        .collect()
}

/// Looking once for all who wait finds whom looking for each of them finds.
fn assert_plain_choice(ledger: &MemoryLedger, now: Instant) {
    let pressed = list_shortages(ledger);
    let plain = pressed
        .iter()
        .find_map(|(id, lack)| plain_victim_for(ledger, *id, lack, now));
    assert_eq!(ledger.find_victim(&pressed, now), plain);
}

/// Who makes place for one who waits, looked for among all.
fn plain_victim_for(
    ledger: &MemoryLedger,
    waits: u64,
    lack: &MemoryShortage,
    now: Instant,
) -> Option<u64> {
    let others = || {
        ledger
            .holders
            .iter()
            .filter(|(id, holder)| **id != waits && holder.held > 0)
    };
    let is_in_the_way = |holder: &MemoryHolder| match lack {
        MemoryShortage::Share(name) => holder.accounts.contains(name),
        MemoryShortage::Total => true,
    };
    let slow = others().filter(|(_, holder)| holder.is_slow(now) && is_in_the_way(holder));
    if let Some((id, _)) = slow.max_by_key(|(_, holder)| holder.held) {
        return Some(*id);
    }
    let wanted = ledger.holders[&waits].wanted?;
    if *lack != MemoryShortage::Total || now.duration_since(wanted.since) < PATIENCE {
        return None;
    }
    let fair = ledger.heaviest_share(waits) + wanted.bytes;
    others()
        .filter(|(id, holder)| holder.is_with_peer && ledger.heaviest_share(**id) > fair)
        .max_by_key(|(id, holder)| (ledger.heaviest_share(**id), holder.held, Reverse(**id)))
        .map(|(id, _)| *id)
}

#[test]
fn an_account_has_so_many_wait_and_others_wait_beside_them() {
    let (mut ledger, now) = (build_ledger(1_000), Instant::now());
    let ids: Vec<u64> = (0..WAITERS_PER_ACCOUNT + 3)
        .map(|_| add_sender(&mut ledger, &["greedy"], now).0)
        .collect();
    // The oldest in its own place, and the next in what the others share.
    assert!(
        ids[..2]
            .iter()
            .all(|id| is_granted(&mut ledger, *id, 100, now))
    );
    assert!(
        ids[2..ids.len() - 1]
            .iter()
            .all(|id| ledger.request_bytes(*id, 100, now) == Asked::Waits)
    );
    let last = ids[ids.len() - 1];
    assert_eq!(ledger.request_bytes(last, 100, now), Asked::TurnedAway);
    let (other, _) = add_sender(&mut ledger, &["other"], now);
    assert!(
        is_granted(&mut ledger, other, 90, now),
        "it is another account"
    );
    ledger.cancel_request(ids[2]);
    assert_eq!(
        ledger.request_bytes(last, 100, now),
        Asked::Waits,
        "a place became free"
    );
}
