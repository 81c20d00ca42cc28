//! Mailpieces page by page, in two orders.

use std::collections::HashMap;
use std::fmt::Write;

use chrono::{DateTime, Utc};
use contract::read::{Mailpiece, MailpiecesAnswer};
use model::id::{CampaignId, TeamId};
use model::mailpiece_state::MailpieceState;
use store::{
    ChangedGroup, ChangedGroupKind, FeedKind, FollowedMailpiece, GroupMember, Store, StoreError,
};
use uuid::Uuid;

use crate::cursor::{CursorScope, FollowedList, ListPlace, least_id_since};
use crate::error::FollowError;
use crate::mailpiece::build_mailpiece;
use crate::plan::{PlannedEnd, ReadPlan, plan_reads};
use crate::resume::FollowedFeed;

/// Groups of mailpieces that changed together that a page looks at.
pub const READ_GROUPS: usize = 1_000;

/// Mailpieces that a page with filters looks at.
pub const READ_ROWS: usize = 2_000;

/// The order of a list of mailpieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailpieceOrder {
    /// Each once, as they were paid.
    Charged,
    /// Each as often as it has changed, as it is now.
    Changed,
}

/// What mailpieces are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailpieceQuery {
    /// In this order.
    pub order: MailpieceOrder,
    /// Without a cursor: only what has changed since this moment, and what was noted shortly before it.
    pub changed_since: Option<DateTime<Utc>>,
    /// Of this campaign.
    pub campaign_id: Option<CampaignId>,
    /// That are in this state now.
    pub state: Option<MailpieceState>,
    /// Whose recipients have this reference.
    pub reference: Option<String>,
    /// Behind this place.
    pub cursor: Option<String>,
    /// At most so many, at least one.
    pub limit: usize,
}

impl MailpieceQuery {
    const fn list(&self) -> FollowedList {
        match self.order {
            MailpieceOrder::Charged => FollowedList::Charged,
            MailpieceOrder::Changed => FollowedList::Changed,
        }
    }

    /// The filters in one way of writing them: a name's length stands before what a client gave.
    fn describe_filters(&self) -> String {
        let mut text = String::new();
        let campaign = self.campaign_id.as_ref().map(CampaignId::as_str);
        let state = self.state.map(MailpieceState::as_str);
        for value in [campaign, state, self.reference.as_deref()] {
            let length = value.map_or(-1, |value| value.len().cast_signed());
            // Writing to a text cannot fail.
            let _ = write!(text, "{length}:{}", value.unwrap_or_default());
        }
        text
    }

    const fn has_filters(&self) -> bool {
        self.campaign_id.is_some() || self.state.is_some() || self.reference.is_some()
    }

    /// Rows that a page reads: one more than it shows, to know whether there is more.
    fn rows(&self) -> usize {
        if self.has_filters() {
            READ_ROWS
        } else {
            self.limit + 1
        }
    }

    fn can_have(&self, group: &ChangedGroup) -> bool {
        match (&self.campaign_id, &group.campaign_id) {
            (Some(wanted), Some(found)) => wanted.as_str() == found,
            _ => true,
        }
    }

    fn matches(&self, mailpiece: &Mailpiece) -> bool {
        self.campaign_id
            .as_ref()
            .is_none_or(|wanted| wanted.as_str() == mailpiece.campaign_id)
            && self.state.is_none_or(|wanted| wanted == mailpiece.state)
            && (self.reference.is_none() || self.reference == mailpiece.reference)
    }
}

/// A page of a team's mailpieces. At most [`READ_ROWS`] mailpieces are read for it, so it may be shorter than was asked for, or
/// empty, while there are more.
///
/// # Errors
/// [`FollowError::InvalidCursor`], or that the database cannot be asked.
pub async fn list_mailpieces(
    store: &Store,
    team_id: TeamId,
    query: &MailpieceQuery,
    now: DateTime<Utc>,
) -> Result<MailpiecesAnswer, FollowError> {
    let filters = query.describe_filters();
    let scope = CursorScope {
        team_id,
        list: query.list(),
        filters: &filters,
    };
    let asked = query
        .cursor
        .as_deref()
        .map(|cursor| scope.read_place(cursor))
        .transpose()?;
    let reader = PageReader {
        feed: FollowedFeed {
            store,
            team_id,
            feed: FeedKind::Mailpieces,
        },
        query,
    };
    let page = reader.read_page(asked, now).await?;
    Ok(MailpiecesAnswer {
        mailpieces: page.mailpieces,
        next_cursor: scope.write_place(page.end),
        has_more: page.has_more,
    })
}

struct PageReader<'a> {
    feed: FollowedFeed<'a>,
    query: &'a MailpieceQuery,
}

struct MailpiecePage {
    mailpieces: Vec<Mailpiece>,
    end: ListPlace,
    has_more: bool,
}

/// A mailpiece at its place, or a place up to which a group was read.
struct PageStep {
    place: ListPlace,
    mailpiece_id: Option<Uuid>,
}

impl PageReader<'_> {
    async fn read_page(
        &self,
        asked: Option<ListPlace>,
        now: DateTime<Utc>,
    ) -> Result<MailpiecePage, StoreError> {
        let FollowedFeed {
            store,
            team_id,
            feed,
        } = self.feed;
        let is_all_placed = store.place_feed_items(team_id, feed).await?;
        let start = match (asked, self.query.changed_since) {
            (Some(place), _) => place,
            (None, Some(since)) => self.feed.place_before(least_id_since(since)).await?,
            (None, None) => ListPlace::behind(0, now),
        };
        let (start, groups) = self.list_groups(start).await?;
        let within = match groups.first() {
            Some(first) if first.position == start.position => start.within,
            _ => 0,
        };
        let rows = self.query.rows();
        let plan = plan_reads(&groups, within, rows, |group| self.query.can_have(group));
        let steps = self.list_steps(&groups, &plan).await?;
        let ids: Vec<Uuid> = steps.iter().filter_map(|step| step.mailpiece_id).collect();
        let found = store.find_followed_mailpieces(team_id, &ids).await?;
        let (mailpieces, end, is_cut) = self.take_steps(&steps, found, start);
        let is_read_whole = plan.groups.len() == groups.len()
            && steps
                .last()
                .is_none_or(|step| step.place.within == ListPlace::ALL);
        let has_more =
            is_cut || !is_read_whole || groups.len() >= self.group_limit() || !is_all_placed;
        Ok(MailpiecePage {
            mailpieces,
            end,
            has_more,
        })
    }

    /// One more than there can be rows: the group of the place itself comes along.
    fn group_limit(&self) -> usize {
        READ_GROUPS.min(self.query.rows() + 1)
    }

    /// The groups from a place on, and the place: another one when the place is no longer in the feed.
    async fn list_groups(
        &self,
        start: ListPlace,
    ) -> Result<(ListPlace, Vec<ChangedGroup>), StoreError> {
        let groups = self.list_groups_from(start.position).await?;
        let first = groups.first().map(|group| (group.position, group.batch_id));
        if self.feed.has_place(start, first).await? {
            return Ok((start, groups));
        }
        // What remains of the place is its time.
        let start = self.feed.place_before(start.least_id()).await?;
        Ok((start, self.list_groups_from(start.position).await?))
    }

    async fn list_groups_from(&self, position: i64) -> Result<Vec<ChangedGroup>, StoreError> {
        let FollowedFeed { store, team_id, .. } = self.feed;
        let limit = self.group_limit() as i64;
        match self.query.order {
            MailpieceOrder::Charged => store.list_charged_groups(team_id, position, limit).await,
            MailpieceOrder::Changed => store.list_changed_groups(team_id, position, limit).await,
        }
    }

    /// The mailpieces of a plan in order, with the ends of their groups.
    async fn list_steps(
        &self,
        groups: &[ChangedGroup],
        plan: &ReadPlan,
    ) -> Result<Vec<PageStep>, StoreError> {
        let FollowedFeed { store, team_id, .. } = self.feed;
        let charged = store.list_charge_members(team_id, &plan.charges).await?;
        let printed = store.list_print_run_members(team_id, &plan.runs).await?;
        let mut members: HashMap<usize, Vec<GroupMember>> = HashMap::new();
        for member in charged.into_iter().chain(printed) {
            let index = usize::try_from(member.number).unwrap_or(usize::MAX);
            members.entry(index).or_default().push(member);
        }
        let mut steps = Vec::new();
        for planned in &plan.groups {
            let group = &groups[planned.index];
            let place = |within: u128| ListPlace {
                position: group.position,
                within,
                noted: group.batch_id,
            };
            let of_group = members.remove(&planned.index).unwrap_or_default();
            let (count, last) = (of_group.len(), of_group.last().map(place_within));
            steps.extend(of_group.iter().map(|member| PageStep {
                place: place(place_within(member)),
                mailpiece_id: Some(member.mailpiece_id),
            }));
            let is_alone =
                group.kind == ChangedGroupKind::Mailpiece && planned.end == PlannedEnd::Whole;
            let end = match planned.end {
                PlannedEnd::Skipped | PlannedEnd::Whole => ListPlace::ALL,
                PlannedEnd::Within(place) => place,
                PlannedEnd::Unless(rows) if count < rows => ListPlace::ALL,
                PlannedEnd::Unless(_) => last.unwrap_or(ListPlace::ALL),
            };
            steps.push(PageStep {
                place: place(end),
                mailpiece_id: is_alone.then_some(group.item_id),
            });
        }
        Ok(steps)
    }

    /// The mailpieces that are wanted, up to the limit; the place behind the last step that was taken; and whether there is one more.
    fn take_steps(
        &self,
        steps: &[PageStep],
        found: Vec<FollowedMailpiece>,
        start: ListPlace,
    ) -> (Vec<Mailpiece>, ListPlace, bool) {
        let by_id: HashMap<Uuid, Mailpiece> = found
            .into_iter()
            .map(|found| (found.mailpiece_id, build_mailpiece(found)))
            .collect();
        let (mut taken, mut end) = (Vec::new(), start);
        for step in steps {
            let mailpiece = step.mailpiece_id.and_then(|id| by_id.get(&id));
            if let Some(mailpiece) = mailpiece.filter(|one| self.query.matches(one)) {
                if taken.len() == self.query.limit {
                    return (taken, end, true);
                }
                // The same one may have changed twice.
                taken.push(mailpiece.clone());
            }
            end = step.place;
        }
        (taken, end, false)
    }
}

/// The place of a mailpiece in its group.
fn place_within(member: &GroupMember) -> u128 {
    match member.print_position {
        0 => member.mailpiece_id.as_u128(),
        position => u128::from(position.unsigned_abs()),
    }
}
