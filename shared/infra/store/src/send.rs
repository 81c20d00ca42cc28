//! Send requests: who works on one, and what was answered.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use model::id::{CampaignId, RequestId, TeamId};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::error::{Result, StoreError, retry_conflicts};
use crate::pool::{Store, Transaction};
use crate::send_key::SendIdempotencyKey;

/// The right to work on a send until it runs out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendLease {
    /// The send.
    pub send_id: RequestId,
    /// Its owner.
    pub team_id: TeamId,
    /// Fences out whoever held it before.
    pub lease_id: Uuid,
}

/// Where a request stands.
#[derive(Debug)]
pub enum SendClaim {
    /// It is new and ours.
    New(SendLease),
    /// It was reserved by a worker whose lease ran out; it is ours to finish.
    Resumed(ReservedSend),
    /// It, or an equal one, is being worked on: ask again for this one.
    Running(RequestId),
    /// It, an equal one within the replay window, or the one with its key is finished.
    Finished {
        /// Whose response it is.
        send_id: RequestId,
        /// As it is stored.
        finished: FinishedSend,
    },
    /// The first request with its key is being worked on.
    InProgress,
    /// Its key was used for another request.
    KeyReused,
}

/// A send whose cards are reserved and whose charge is open.
#[derive(Debug)]
pub struct ReservedSend {
    /// The lease to finish it under.
    pub lease: SendLease,
    /// Its campaign.
    pub campaign_id: CampaignId,
    /// The whole answer as if the charge succeeds.
    pub response: Bytes,
    /// Positions that are duplicates only of an earlier, accepted recipient of the same request.
    pub copies: Vec<usize>,
}

/// A finished send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedSend {
    /// What was answered.
    pub response: Bytes,
    /// What was charged: nothing when nobody was mailed, or when the payment was declined.
    pub cost_cents: i64,
}

impl FinishedSend {
    /// From the columns `response` and `cost_cents`.
    fn from_row(row: &Row) -> Self {
        Self {
            response: bytes_from_column(row, 0),
            cost_cents: row.get::<_, Option<i64>>(1).unwrap_or(0),
        }
    }
}

/// A request to be claimed, what makes another one equal, and the times that decide about them.
#[derive(Debug, Clone, Copy)]
pub struct NewSend<'a> {
    /// Under which it is worked on when it is new.
    pub lease: SendLease,
    /// Where it is sent.
    pub campaign_id: &'a CampaignId,
    /// Campaign and addresses as sent: equal for equal requests.
    pub fingerprint: &'a [u8; 32],
    /// The key that its sender gave it.
    pub key: Option<SendIdempotencyKey<'a>>,
    /// Equal requests that finished since then, and mailed somebody, are its answer.
    pub replay_since: DateTime<Utc>,
    /// The time.
    pub now: DateTime<Utc>,
    /// The end of the lease.
    pub leased_until: DateTime<Utc>,
}

impl Store {
    /// Claims a request, or finds that it needs no work: it was answered before, an equal one was answered
    /// since `replay_since` and mailed somebody, or one of these is under way. What its key says comes first.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn claim_send(&self, request: NewSend<'_>) -> Result<SendClaim> {
        retry_conflicts(|| self.claim_send_once(request)).await
    }

    /// What [`Store::claim_send`] finds of a request that may not begin; `None` when it would be new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn resume_send(&self, request: NewSend<'_>) -> Result<Option<SendClaim>> {
        retry_conflicts(|| {
            self.claim_send_unless(request, |claim| matches!(claim, SendClaim::New(_)))
        })
        .await
    }

    async fn claim_send_once(&self, request: NewSend<'_>) -> Result<SendClaim> {
        // Nothing is left out.
        let claim = self.claim_send_unless(request, |_| false).await?;
        claim.ok_or_else(|| StoreError::Corrupt("a claim is gone".to_owned()))
    }

    /// Claims a request. `None`, and nothing of the claim stays, when it is one that is not wanted.
    async fn claim_send_unless(
        &self,
        request: NewSend<'_>,
        is_unwanted: impl Fn(&SendClaim) -> bool,
    ) -> Result<Option<SendClaim>> {
        let mut connection = self.connection().await?;
        let transaction = connection.begin_transaction().await?;
        // Losing this claim with the database's last moments costs nothing: nothing was decided yet.
        transaction
            .execute("SET LOCAL synchronous_commit = off", &[])
            .await?;
        let claim = transaction.claim_send(request).await?;
        if is_unwanted(&claim) {
            return Ok(None);
        }
        if let Some(key) = request.key
            && !transaction.record_send_key(request, key, &claim).await?
        {
            // Nothing of this claim stays; the next look finds who has the key.
            return Ok(Some(SendClaim::Running(request.lease.send_id)));
        }
        transaction.commit().await?;
        Ok(Some(claim))
    }

    /// Gives a claimed request back: it failed as a whole, and a repeat starts anew. One that is reserved by now
    /// is left alone.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn release_send(&self, lease: SendLease) -> Result<()> {
        self.execute(
            "DELETE FROM sends WHERE team_id = $1 AND send_id = $2 AND lease_id = $3 AND state = 'claimed'",
            &[&lease.team_id.0, &lease.send_id.0, &lease.lease_id],
        )
        .await?;
        Ok(())
    }

    /// Keeps an unfinished send for its worker until `leased_until`, unless another one has taken it over.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn renew_send_lease(
        &self,
        lease: SendLease,
        leased_until: DateTime<Utc>,
    ) -> Result<()> {
        self.execute(
            "UPDATE sends SET leased_until = $4
             WHERE team_id = $1 AND send_id = $2 AND lease_id = $3 AND state <> 'finished'",
            &[
                &lease.team_id.0,
                &lease.send_id.0,
                &lease.lease_id,
                &leased_until,
            ],
        )
        .await?;
        Ok(())
    }

    /// The stored response of a request; `None` while there is none.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn find_send_response(
        &self,
        team_id: TeamId,
        send_id: RequestId,
    ) -> Result<Option<FinishedSend>> {
        let row = self
            .query_row(
                "SELECT response, cost_cents FROM sends WHERE team_id = $1 AND send_id = $2 AND state = 'finished'",
                &[&team_id.0, &send_id.0],
            )
            .await?;
        Ok(row.as_ref().map(FinishedSend::from_row))
    }

    /// Takes one reserved send whose worker's lease has run out, to finish it, of none of the `full_teams`. `None` when there
    /// is none.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn adopt_reserved_send(
        &self,
        lease_id: Uuid,
        now: DateTime<Utc>,
        leased_until: DateTime<Utc>,
        full_teams: &[TeamId],
    ) -> Result<Option<ReservedSend>> {
        let full_teams: Vec<Uuid> = full_teams.iter().map(|team_id| team_id.0).collect();
        let row = self
            .query_row(
                "UPDATE sends SET lease_id = $1, leased_until = $3
                 WHERE (team_id, send_id) IN (
                     SELECT team_id, send_id FROM sends WHERE state = 'reserved' AND leased_until < $2
                         AND team_id <> ALL ($4)
                     ORDER BY leased_until LIMIT 1 FOR UPDATE SKIP LOCKED)
                 RETURNING team_id, send_id, campaign_id, response, copies",
                &[&lease_id, &now, &leased_until, &full_teams],
            )
            .await?;
        row.map(|row| reserved_send_from_row(&row, lease_id))
            .transpose()
    }

    /// Forgets requests older than `before`, at most `limit`. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be asked.
    pub async fn purge_sends(&self, before: DateTime<Utc>, limit: i64) -> Result<u64> {
        self.execute(
            "DELETE FROM sends WHERE created_at < $1 AND state <> 'reserved' AND ctid = ANY (ARRAY(
                 SELECT ctid FROM sends WHERE created_at < $1 AND state <> 'reserved' ORDER BY created_at LIMIT $2))",
            &[&before, &limit],
        )
        .await
    }
}

/// The request itself as somebody else claimed it, else the equal one that runs, else the latest equal one that mailed
/// somebody.
const FIND: &str = "
    (SELECT send_id, state, leased_until, 0 AS preference, now() AS at FROM sends
     WHERE team_id = $1 AND send_id = $2 AND lease_id <> $6)
    UNION ALL
    (SELECT send_id, state, leased_until, 1, now() FROM sends
     WHERE team_id = $1 AND campaign_id = $3 AND fingerprint = $4 AND state <> 'finished' AND send_id <> $2)
    UNION ALL
    (SELECT send_id, state, leased_until, 2, finished_at FROM sends
     WHERE team_id = $1 AND campaign_id = $3 AND fingerprint = $4 AND state = 'finished' AND finished_at > $5
         AND mailed > 0
     ORDER BY finished_at DESC LIMIT 1)
    ORDER BY preference LIMIT 1";

/// A send that stands already.
pub(crate) struct ExistingSend {
    pub(crate) send_id: Uuid,
    pub(crate) state: String,
    pub(crate) leased_until: DateTime<Utc>,
}

impl Transaction<'_> {
    async fn claim_send(&self, request: NewSend<'_>) -> Result<SendClaim> {
        if let Some(key) = request.key
            && let Some(claim) = self.claim_send_by_key(request, key).await?
        {
            return Ok(claim);
        }
        self.begin_send(request).await
    }

    /// Inserts first and looks then: until the row stands, an equal request may finish, and from then on none can begin.
    async fn begin_send(&self, request: NewSend<'_>) -> Result<SendClaim> {
        let is_inserted = self.insert_send(request).await?;
        match self.find_existing_send(request).await? {
            None if is_inserted => Ok(SendClaim::New(request.lease)),
            // The equal one that was in the way mailed nobody, or failed; the next look finds nothing.
            None => Ok(SendClaim::Running(request.lease.send_id)),
            Some(found) => {
                if is_inserted {
                    self.withdraw_send(request.lease).await?;
                }
                self.take_over_send(request, found).await
            }
        }
    }

    async fn find_existing_send(&self, request: NewSend<'_>) -> Result<Option<ExistingSend>> {
        let SendLease {
            team_id,
            send_id,
            lease_id,
        } = request.lease;
        let campaign = request.campaign_id.as_str();
        let fingerprint: &[u8] = request.fingerprint;
        let asked: [&(dyn ToSql + Sync); 6] = [
            &team_id.0,
            &send_id.0,
            &campaign,
            &fingerprint,
            &request.replay_since,
            &lease_id,
        ];
        let row = self.query_row(FIND, &asked).await?;
        Ok(row.map(|row| ExistingSend {
            send_id: row.get(0),
            state: row.get(1),
            leased_until: row.get(2),
        }))
    }

    /// Whether the request's row stands now: not while an equal one runs, nor when this one has been claimed before.
    async fn insert_send(&self, request: NewSend<'_>) -> Result<bool> {
        let fingerprint: &[u8] = request.fingerprint;
        let inserted = self
            .execute(
                "INSERT INTO sends (team_id, send_id, campaign_id, fingerprint, state, lease_id, leased_until, created_at)
                 VALUES ($1, $2, $3, $4, 'claimed', $5, $6, $7) ON CONFLICT DO NOTHING",
                &[
                    &request.lease.team_id.0,
                    &request.lease.send_id.0,
                    &request.campaign_id.as_str(),
                    &fingerprint,
                    &request.lease.lease_id,
                    &request.leased_until,
                    &request.now,
                ],
            )
            .await?;
        Ok(inserted == 1)
    }

    /// Takes back what [`Transaction::insert_send`] has just made.
    async fn withdraw_send(&self, lease: SendLease) -> Result<()> {
        let sql = "DELETE FROM sends WHERE team_id = $1 AND send_id = $2 AND lease_id = $3";
        self.execute(sql, &[&lease.team_id.0, &lease.send_id.0, &lease.lease_id])
            .await?;
        Ok(())
    }

    pub(crate) async fn take_over_send(
        &self,
        request: NewSend<'_>,
        found: ExistingSend,
    ) -> Result<SendClaim> {
        let team_id = request.lease.team_id.0;
        match found.state.as_str() {
            "finished" => {
                let sql =
                    "SELECT response, cost_cents FROM sends WHERE team_id = $1 AND send_id = $2";
                let row = self.query_row(sql, &[&team_id, &found.send_id]).await?;
                let row =
                    row.ok_or_else(|| StoreError::Corrupt("a finished send is gone".to_owned()))?;
                let finished = FinishedSend::from_row(&row);
                Ok(SendClaim::Finished {
                    send_id: RequestId(found.send_id),
                    finished,
                })
            }
            _ if found.leased_until >= request.now => {
                Ok(SendClaim::Running(RequestId(found.send_id)))
            }
            "reserved" => {
                let row = self
                    .query_row(
                        "UPDATE sends SET lease_id = $3, leased_until = $4
                         WHERE team_id = $1 AND send_id = $2 AND state = 'reserved' AND leased_until < $5
                         RETURNING team_id, send_id, campaign_id, response, copies",
                        &[
                            &team_id,
                            &found.send_id,
                            &request.lease.lease_id,
                            &request.leased_until,
                            &request.now,
                        ],
                    )
                    .await?;
                match row {
                    Some(row) => Ok(SendClaim::Resumed(reserved_send_from_row(
                        &row,
                        request.lease.lease_id,
                    )?)),
                    None => Ok(SendClaim::Running(RequestId(found.send_id))),
                }
            }
            // Claimed by a worker that is gone, before anything was decided: as if it had never been.
            _ => {
                self.execute(
                    "DELETE FROM sends WHERE team_id = $1 AND send_id = $2 AND state = 'claimed' AND leased_until < $3",
                    &[&team_id, &found.send_id, &request.now],
                )
                .await?;
                Box::pin(self.begin_send(request)).await
            }
        }
    }

    /// Notes that the cards are reserved, and the answer as if the charge succeeds.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when another worker has taken the request over.
    pub async fn reserve_send(
        &self,
        lease: SendLease,
        response: &[u8],
        copies: &[i32],
        mailed: i32,
        leased_until: DateTime<Utc>,
    ) -> Result<()> {
        let changed = self
            .execute(
                "UPDATE sends SET state = 'reserved', response = $4, copies = $5, mailed = $6,
                     leased_until = greatest(leased_until, $7)
                 WHERE team_id = $1 AND send_id = $2 AND lease_id = $3 AND state = 'claimed'",
                &[
                    &lease.team_id.0,
                    &lease.send_id.0,
                    &lease.lease_id,
                    &response,
                    &copies,
                    &mailed,
                    &leased_until,
                ],
            )
            .await?;
        check_lease_held(changed)
    }

    /// Finishes a send that mails nobody, with its response.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when another worker has taken the request over.
    pub async fn complete_empty_send(
        &self,
        lease: SendLease,
        response: &[u8],
        now: DateTime<Utc>,
    ) -> Result<()> {
        let changed = self
            .execute(
                "UPDATE sends SET state = 'finished', response = $4, mailed = 0, finished_at = $5
                 WHERE team_id = $1 AND send_id = $2 AND lease_id = $3 AND state = 'claimed'",
                &[
                    &lease.team_id.0,
                    &lease.send_id.0,
                    &lease.lease_id,
                    &response,
                    &now,
                ],
            )
            .await?;
        check_lease_held(changed)
    }

    /// Finishes a reserved send. `replacement` is the response and its count of mailed recipients where they differ
    /// from what was stored when it was reserved; `cost_cents` is what was charged.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when another worker has finished it or taken it over.
    pub async fn complete_send(
        &self,
        lease: SendLease,
        replacement: Option<(&[u8], i32)>,
        cost_cents: i64,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let (response, mailed) = replacement.unzip();
        let changed = self
            .execute(
                "UPDATE sends SET state = 'finished', response = coalesce($4, response),
                     mailed = coalesce($5, mailed), finished_at = $6, copies = '{}',
                     cost_cents = $7
                 WHERE team_id = $1 AND send_id = $2 AND lease_id = $3 AND state = 'reserved'",
                &[
                    &lease.team_id.0,
                    &lease.send_id.0,
                    &lease.lease_id,
                    &response,
                    &mailed,
                    &now,
                    &cost_cents,
                ],
            )
            .await?;
        check_lease_held(changed)
    }
}

fn check_lease_held(changed: u64) -> Result<()> {
    if changed == 1 {
        Ok(())
    } else {
        Err(StoreError::LeaseLost)
    }
}

fn bytes_from_column(row: &Row, column: usize) -> Bytes {
    Bytes::copy_from_slice(row.get(column))
}

fn reserved_send_from_row(row: &Row, lease_id: Uuid) -> Result<ReservedSend> {
    let copies: Vec<i32> = row.get("copies");
    let corrupt = || StoreError::Corrupt("a reserved send".to_owned());
    Ok(ReservedSend {
        lease: SendLease {
            send_id: RequestId(row.get("send_id")),
            team_id: TeamId(row.get("team_id")),
            lease_id,
        },
        campaign_id: row
            .get::<_, &str>("campaign_id")
            .parse()
            .map_err(|_| corrupt())?,
        response: Bytes::copy_from_slice(row.get("response")),
        copies: copies
            .into_iter()
            .map(usize::try_from)
            .collect::<std::result::Result<_, _>>()
            .map_err(|_| corrupt())?,
    })
}
