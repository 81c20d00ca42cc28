//! Who holds how much of a budget, who waits, and who has to make place: decided here, without waiting for anything.

use std::cell::LazyCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{MemoryAccount, MemoryLimits};

/// Bytes that a peer has to move within [`STALL`] so as not to be slow.
const STEP_BYTES: usize = 64 * 1024;

/// A peer that has not moved its next step for so long is slow; a lost packet alone makes nobody slow.
const STALL: Duration = Duration::from_secs(2);

/// How long somebody waits who holds less than others before the one who holds most makes place, slow or not.
const PATIENCE: Duration = Duration::from_secs(1);

/// Holders of an account that wait at a time; the next ones are turned away.
const WAITERS_PER_ACCOUNT: usize = 1_024;

/// What came of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// It is granted.
    Granted,
    /// The signal will tell.
    Waits,
    /// Too many of its account wait already.
    TurnedAway,
}

/// How a holder's task is told what was decided.
#[derive(Default)]
pub(super) struct HolderSignal {
    pub(super) granted: Notify,
    pub(super) evicted: CancellationToken,
}

/// All of a budget. Holders are known by the order in which they came.
pub(super) struct MemoryLedger {
    limits: MemoryLimits,
    held: usize,
    next: u64,
    holders: BTreeMap<u64, MemoryHolder>,
    shares: HashMap<Vec<u8>, AccountShare>,
    evictions: u64,
}

/// What holders of one account have together.
struct AccountShare {
    limit: usize,
    held: usize,
    waiting: usize,
    holders: BTreeSet<u64>,
}

struct MemoryHolder {
    accounts: Vec<Vec<u8>>,
    held: usize,
    wanted: Option<PendingGrant>,
    /// Whether the next step is the peer's: to send, or to read.
    is_with_peer: bool,
    moved_at: Instant,
    moved: usize,
    /// What the peer has not read yet.
    content: Bytes,
    signal: Arc<HolderSignal>,
}

#[derive(Clone, Copy)]
struct PendingGrant {
    bytes: usize,
    since: Instant,
}

impl MemoryHolder {
    fn is_slow(&self, now: Instant) -> bool {
        self.is_with_peer && self.wanted.is_none() && now.duration_since(self.moved_at) >= STALL
    }
}

/// Why somebody has to wait.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum MemoryShortage {
    /// The share of the account of this name is used up.
    Share(Vec<u8>),
    /// The budget is.
    Total,
}

impl MemoryLedger {
    pub(super) fn new(limits: MemoryLimits) -> Self {
        let (holders, shares) = (BTreeMap::new(), HashMap::new());
        Self {
            limits,
            held: 0,
            next: 0,
            holders,
            shares,
            evictions: 0,
        }
    }

    /// Bytes held, and holders evicted since the start.
    pub(super) const fn totals(&self) -> (usize, u64) {
        (self.held, self.evictions)
    }

    /// Adds a holder of nothing.
    pub(super) fn add_holder(
        &mut self,
        accounts: &[MemoryAccount],
        is_with_peer: bool,
        signal: Arc<HolderSignal>,
        now: Instant,
    ) -> u64 {
        let id = self.next;
        self.next += 1;
        for account in accounts {
            let limit = account.share_bytes;
            let new = || AccountShare {
                limit,
                held: 0,
                waiting: 0,
                holders: BTreeSet::new(),
            };
            self.shares
                .entry(account.name.clone())
                .or_insert_with(new)
                .holders
                .insert(id);
        }
        let holder = MemoryHolder {
            accounts: accounts
                .iter()
                .map(|account| account.name.clone())
                .collect(),
            held: 0,
            wanted: None,
            is_with_peer,
            moved_at: now,
            moved: 0,
            content: Bytes::new(),
            signal,
        };
        self.holders.insert(id, holder);
        id
    }

    /// Removes a holder, evicted or not, and gives what it had to those who wait.
    pub(super) fn close_holder(&mut self, id: u64, now: Instant) {
        let kept_room = self.keeps_room(id);
        self.remove_holder(id);
        if kept_room {
            self.rebalance(now);
        }
    }

    /// Asks for memory. One more who waits gives nobody else anything: the others are looked at when somebody has to make place for
    /// this one.
    pub(super) fn request_bytes(&mut self, id: u64, bytes: usize, now: Instant) -> Asked {
        let Some(lack) = self.find_shortage(id, bytes) else {
            self.hold_bytes(id, bytes, now);
            return Asked::Granted;
        };
        if self
            .shares_of(id)
            .any(|share| share.waiting >= WAITERS_PER_ACCOUNT)
        {
            return Asked::TurnedAway;
        }
        self.note_wanted(id, Some(PendingGrant { bytes, since: now }));
        if self.find_victim(&[(id, lack)], now).is_some() {
            self.rebalance(now);
        }
        Asked::Waits
    }

    /// Asks no longer. True when it has been granted meanwhile.
    pub(super) fn cancel_request(&mut self, id: u64) -> bool {
        self.holders.contains_key(&id) && self.note_wanted(id, None).is_none()
    }

    /// Has a holder hold exactly so much, at once: what it needs more than there is, others make place for, first those of its own
    /// accounts.
    pub(super) fn set_held(&mut self, id: u64, bytes: usize, now: Instant) {
        let Some(held) = self.holders.get(&id).map(|holder| holder.held) else {
            return;
        };
        self.release_bytes(id, held);
        self.hold_bytes(id, bytes, now);
        while let Some(victim) = self.in_the_way_of(id, now) {
            self.evict_holder(victim);
        }
        self.rebalance(now);
    }

    /// The peer has sent or read so much.
    pub(super) fn record_progress(&mut self, id: u64, bytes: usize, now: Instant) {
        let Some(holder) = self.holders.get_mut(&id) else {
            return;
        };
        holder.moved += bytes;
        if holder.moved >= STEP_BYTES {
            (holder.moved, holder.moved_at) = (0, now);
        }
    }

    /// The peer has done its part: the holder makes place for nobody any more.
    pub(super) fn mark_protected(&mut self, id: u64) {
        if let Some(holder) = self.holders.get_mut(&id) {
            holder.is_with_peer = false;
        }
    }

    /// Gives a holder what its peer is to read.
    pub(super) fn set_content(&mut self, id: u64, content: Bytes, now: Instant) {
        self.set_held(id, content.len(), now);
        if let Some(holder) = self.holders.get_mut(&id) {
            (holder.content, holder.is_with_peer, holder.moved_at) = (content, true, now);
        }
    }

    /// The next bytes of what the peer is to read, as a copy that keeps nothing else in memory. `None` when it has been evicted.
    pub(super) fn next_bytes(&mut self, id: u64, most: usize, now: Instant) -> Option<Bytes> {
        self.record_progress(id, most, now);
        let holder = self.holders.get_mut(&id)?;
        let next = holder.content.split_to(most.min(holder.content.len()));
        Some(Bytes::copy_from_slice(&next))
    }

    /// Gives what is free to those who wait, the one whose account holds least first, and has others make place for them.
    pub(super) fn rebalance(&mut self, now: Instant) {
        loop {
            let pressed = self.grant_all(now);
            match self.find_victim(&pressed, now) {
                Some(victim) => self.evict_holder(victim),
                None => break,
            }
        }
    }

    /// Grants what can be granted. Returns those who have to wait, and why.
    fn grant_all(&mut self, now: Instant) -> Vec<(u64, MemoryShortage)> {
        let wanted =
            |(id, holder): (&u64, &MemoryHolder)| holder.wanted.map(|wanted| (*id, wanted.bytes));
        let mut waiting: Vec<(u64, usize)> = self.holders.iter().filter_map(wanted).collect();
        waiting.sort_by_cached_key(|(id, _)| (self.heaviest_share(*id), *id));
        let mut pressed = Vec::new();
        for (id, bytes) in waiting {
            if let Some(lack) = self.find_shortage(id, bytes) {
                pressed.push((id, lack));
                continue;
            }
            self.hold_bytes(id, bytes, now);
            self.note_wanted(id, None);
            if let Some(holder) = self.holders.get(&id) {
                holder.signal.granted.notify_one();
            }
        }
        pressed
    }

    /// What keeps a holder from having so much more. The oldest of all has room for the largest thing, and so has the oldest of each
    /// account in its share: so there is always one who need not wait, and no half of things can hold each other up.
    fn find_shortage(&self, id: u64, bytes: usize) -> Option<MemoryShortage> {
        let held = |id: &u64| self.holders.get(id).map_or(0, |holder| holder.held);
        let fits = |oldest: Option<&u64>, in_all: usize, limit: usize| match oldest {
            Some(oldest) if *oldest == id && held(&id) + bytes <= self.limits.largest_bytes => true,
            Some(oldest) if *oldest == id => in_all + bytes <= limit,
            oldest => {
                let others = in_all - oldest.map_or(0, held);
                others + bytes <= limit.saturating_sub(self.limits.largest_bytes)
            }
        };
        for name in &self.holders.get(&id)?.accounts {
            let share = self.shares.get(name)?;
            if !fits(share.holders.first(), share.held, share.limit) {
                return Some(MemoryShortage::Share(name.clone()));
            }
        }
        let oldest = self.holders.first_key_value().map(|(oldest, _)| oldest);
        (!fits(oldest, self.held, self.limits.total_bytes)).then_some(MemoryShortage::Total)
    }

    /// Who makes place for those who wait, of whom the first for whom somebody has to decides. For a lack it is the slow one that
    /// holds most, of the account whose share is used up, or of all. And when all is used up and the wait becomes long, of the account
    /// that holds most, and more than the one who waits would, the holder that has most. Each is looked for once, however many wait.
    fn find_victim(&self, pressed: &[(u64, MemoryShortage)], now: Instant) -> Option<u64> {
        let mut looked_at = HashSet::new();
        let greediest = LazyCell::new(|| self.find_greediest());
        pressed.iter().find_map(|(id, lack)| {
            // Found for the first who has this lack, it would have been returned.
            let slow = if looked_at.insert(lack) {
                self.find_slow_holder(lack, now)
            } else {
                None
            };
            slow.or_else(|| {
                let (victim, share) = (*greediest)?;
                (*lack == MemoryShortage::Total && self.is_owed(*id, share, now)).then_some(victim)
            })
        })
    }

    /// Of the slow ones in the way the one that holds most.
    fn find_slow_holder(&self, lack: &MemoryShortage, now: Instant) -> Option<u64> {
        let most = |slow: &mut dyn Iterator<Item = (u64, &MemoryHolder)>| {
            slow.filter(|(_, holder)| holder.held > 0 && holder.is_slow(now))
                .max_by_key(|(_, holder)| holder.held)
                .map(|(id, _)| id)
        };
        match lack {
            MemoryShortage::Total => {
                most(&mut self.holders.iter().map(|(id, holder)| (*id, holder)))
            }
            MemoryShortage::Share(name) => {
                let ids = &self.shares.get(name)?.holders;
                most(
                    &mut ids
                        .iter()
                        .filter_map(|id| Some((*id, self.holders.get(id)?))),
                )
            }
        }
    }

    /// Of the account that holds most the holder that has most, and what the account holds.
    fn find_greediest(&self) -> Option<(u64, usize)> {
        let with_peer = self
            .holders
            .iter()
            .filter(|(_, holder)| holder.held > 0 && holder.is_with_peer);
        let (share, _, Reverse(id)) = with_peer
            .map(|(id, holder)| (self.heaviest_share(*id), holder.held, Reverse(*id)))
            .max()?;
        Some((id, share))
    }

    /// Whether a holder has waited for long, and would hold less than this share with what it waits for.
    fn is_owed(&self, id: u64, share: usize, now: Instant) -> bool {
        let wanted = self.holders.get(&id).and_then(|holder| holder.wanted);
        wanted.is_some_and(|wanted| {
            now.duration_since(wanted.since) >= PATIENCE
                && self.heaviest_share(id) + wanted.bytes < share
        })
    }

    /// Who makes place for somebody who cannot wait: in an account of its own that is over its share, else of all.
    fn in_the_way_of(&self, id: u64, now: Instant) -> Option<u64> {
        let with_peer = |other: &u64| *other != id && self.holders[other].is_with_peer;
        let first = |of: &mut dyn Iterator<Item = u64>| {
            of.max_by_key(|other| {
                (
                    self.holders[other].is_slow(now),
                    self.heaviest_share(*other),
                    Reverse(*other),
                )
            })
        };
        let over = self.shares_of(id).filter(|share| share.held > share.limit);
        let mut own = over.flat_map(|share| share.holders.iter().copied().filter(with_peer));
        first(&mut own).or_else(|| {
            let is_over = self.held > self.limits.total_bytes;
            first(
                &mut self
                    .holders
                    .keys()
                    .copied()
                    .filter(|other| is_over && with_peer(other)),
            )
        })
    }

    fn shares_of(&self, id: u64) -> impl Iterator<Item = &AccountShare> {
        let accounts = self
            .holders
            .get(&id)
            .map_or(&[][..], |holder| &holder.accounts);
        accounts.iter().filter_map(|name| self.shares.get(name))
    }

    /// Whether others get something when a holder goes: what it has, or the room that is kept for the oldest.
    fn keeps_room(&self, id: u64) -> bool {
        let is_oldest = self.holders.keys().next() == Some(&id);
        is_oldest
            || self.holders.get(&id).is_some_and(|holder| holder.held > 0)
            || self
                .shares_of(id)
                .any(|share| share.holders.first() == Some(&id))
    }

    /// What the account of a holder that has most holds.
    fn heaviest_share(&self, id: u64) -> usize {
        self.shares_of(id)
            .map(|share| share.held)
            .max()
            .unwrap_or(0)
    }

    /// Notes what a holder waits for, or that it waits no longer. Returns what it waited for.
    fn note_wanted(&mut self, id: u64, wanted: Option<PendingGrant>) -> Option<PendingGrant> {
        let holder = self.holders.get_mut(&id)?;
        let before = std::mem::replace(&mut holder.wanted, wanted);
        for name in &holder.accounts {
            if let Some(share) = self.shares.get_mut(name) {
                share.waiting =
                    share.waiting + usize::from(wanted.is_some()) - usize::from(before.is_some());
            }
        }
        before
    }

    fn hold_bytes(&mut self, id: u64, bytes: usize, now: Instant) {
        let Some(holder) = self.holders.get_mut(&id) else {
            return;
        };
        holder.held += bytes;
        (holder.moved, holder.moved_at) = (0, now);
        self.held += bytes;
        for name in &holder.accounts {
            if let Some(share) = self.shares.get_mut(name) {
                share.held += bytes;
            }
        }
    }

    fn release_bytes(&mut self, id: u64, bytes: usize) {
        let Some(holder) = self.holders.get_mut(&id) else {
            return;
        };
        holder.held -= bytes;
        self.held -= bytes;
        for name in &holder.accounts {
            if let Some(share) = self.shares.get_mut(name) {
                share.held -= bytes;
            }
        }
    }

    fn evict_holder(&mut self, id: u64) {
        if let Some(holder) = self.remove_holder(id) {
            self.evictions += 1;
            holder.signal.evicted.cancel();
        }
    }

    fn remove_holder(&mut self, id: u64) -> Option<MemoryHolder> {
        let held = self.holders.get(&id)?.held;
        self.release_bytes(id, held);
        self.note_wanted(id, None);
        let holder = self.holders.remove(&id)?;
        for name in &holder.accounts {
            if let Some(share) = self.shares.get_mut(name) {
                share.holders.remove(&id);
                if share.holders.is_empty() {
                    self.shares.remove(name);
                }
            }
        }
        Some(holder)
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
