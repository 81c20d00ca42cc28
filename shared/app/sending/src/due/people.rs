//! Whom a job may mail, a portion at a time.

use std::collections::HashMap;

use store::{
    BookEntryAddress, BookEntryValues, BookRecipient, Campaign, EarlierMailpiece, Job, JobKind,
    StoreError,
};
use uuid::Uuid;

use crate::MailerState;
use crate::neighborhood::centers_at_a_time;

/// Recipients that one portion looks at.
const PORTION: i64 = 1_000;

/// Somebody whom a job may mail.
pub(super) struct JobRecipient {
    /// Where the next portion starts behind.
    pub(super) position: Uuid,
    pub(super) entry_id: Uuid,
    pub(super) address_id: Uuid,
    pub(super) entry: BookEntryAddress,
    pub(super) values: BookEntryValues,
    /// The center that a home lies around.
    pub(super) center: Option<BookRecipient>,
}

impl JobRecipient {
    /// Degrees north and east of the address itself, when it has been located.
    pub(super) fn coordinates(&self) -> Option<(f64, f64)> {
        self.entry.latitude.zip(self.entry.longitude)
    }
}

/// The people behind those that the job has looked at.
pub(super) async fn next_recipients(
    mailer: &MailerState,
    job: &Job,
    campaign: &Campaign,
) -> Result<Vec<JobRecipient>, StoreError> {
    let (store, team_id) = (&mailer.process.store, job.lease.team_id);
    match job.kind {
        JobKind::Recheck => {
            let most = campaign
                .neighborhood
                .map_or(i64::MAX, |settings| centers_at_a_time(settings) as i64);
            let limit = PORTION.min(most);
            let waiting = store
                .list_waiting_recipients(team_id, &job.campaign_id, job.progress, limit)
                .await?;
            Ok(waiting.into_iter().map(recipient_from_waiting).collect())
        }
        JobKind::Step { charge_id, .. } => {
            let mailpieces = store
                .list_charged_mailpieces(team_id, charge_id, job.progress, PORTION)
                .await?;
            let entry_ids: Vec<Uuid> = mailpieces
                .iter()
                .map(|mailpiece| mailpiece.center_entry_id.unwrap_or(mailpiece.entry_id))
                .collect();
            let mut values = store.find_entry_values(team_id, &entry_ids).await?;
            let centers: Vec<Uuid> = mailpieces
                .iter()
                .filter_map(|mailpiece| mailpiece.center_entry_id)
                .collect();
            let centers = match centers.as_slice() {
                [] => HashMap::new(),
                centers => store.find_book_recipients(team_id, centers).await?,
            };
            Ok(mailpieces
                .into_iter()
                .map(|mailpiece| recipient_from_mailed(mailpiece, &mut values, &centers))
                .collect())
        }
    }
}

fn recipient_from_waiting(one: BookRecipient) -> JobRecipient {
    JobRecipient {
        position: one.entry_id,
        entry_id: one.entry_id,
        address_id: one.address_id,
        entry: one.entry,
        values: one.values,
        center: None,
    }
}

fn recipient_from_mailed(
    mailpiece: EarlierMailpiece,
    values: &mut HashMap<Uuid, BookEntryValues>,
    centers: &HashMap<Uuid, BookRecipient>,
) -> JobRecipient {
    JobRecipient {
        position: mailpiece.mailpiece_id,
        entry_id: mailpiece.entry_id,
        address_id: mailpiece.address_id,
        entry: mailpiece.entry,
        values: values.remove(&mailpiece.entry_id).unwrap_or_default(),
        center: mailpiece
            .center_entry_id
            .and_then(|center| centers.get(&center).cloned()),
    }
}
