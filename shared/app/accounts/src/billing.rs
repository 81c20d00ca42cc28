//! Money that a team pays in: it says what it will send and gets a reference, and the operator books what has arrived.

use chrono::{DateTime, Utc};
use model::id::{TeamId, TopUpRequestId};
use model::money::Money;
use model::name::DisplayName;
use secret::random_reference;
use store::{Actor, Result, Store, TopUpResult, Transaction};

/// Money that has arrived for a team's balance.
#[derive(Debug, Clone, Copy)]
pub struct BalanceCredit<'a> {
    /// Whose balance.
    pub team_id: TeamId,
    /// How much.
    pub amount: Money,
    /// What the payment says. A reference counts once.
    pub reference: &'a DisplayName,
}

/// Notes that a team will send so much, with a reference to put on the payment.
///
/// # Errors
/// [`store::StoreError::Limit`] past the requests that a team may have open.
pub async fn request_top_up(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    amount: Money,
    now: DateTime<Utc>,
) -> Result<()> {
    let reference = random_reference();
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    transaction
        .insert_top_up_request(team_id, amount.cents(), &reference, &actor.name(), now)
        .await?;
    let subject = format!("{amount}, {reference}");
    transaction
        .record_activity(team_id, actor, "top_up.requested", &subject, now)
        .await?;
    transaction.commit().await
}

/// Withdraws a top-up that was asked for and is not booked yet.
///
/// # Errors
/// [`store::StoreError::NotFound`] when the team has no open one with this id.
pub async fn withdraw_top_up(
    store: &Store,
    actor: Actor<'_>,
    team_id: TeamId,
    request_id: TopUpRequestId,
    now: DateTime<Utc>,
) -> Result<()> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let reference = transaction
        .withdraw_top_up_request(team_id, request_id)
        .await?;
    transaction
        .record_activity(team_id, actor, "top_up.withdrawn", &reference, now)
        .await?;
    transaction.commit().await
}

/// Adds to a team's prepaid balance. A conflict with a request under way is tried again.
///
/// # Errors
/// As [`credit_balance_within`].
pub async fn credit_balance(
    store: &Store,
    actor: Actor<'_>,
    credit: &BalanceCredit<'_>,
    now: DateTime<Utc>,
) -> Result<TopUpResult> {
    store::retry_conflicts(|| async {
        let mut connection = store.connection().await?;
        let transaction = connection.begin_transaction().await?;
        let booked = credit_balance_within(&transaction, actor, credit, now).await?;
        transaction.commit().await?;
        Ok(booked)
    })
    .await
}

/// Adds to a team's prepaid balance, and closes the top-up that the team asked for with this reference. A reference that was booked
/// before changes nothing.
///
/// # Errors
/// [`store::StoreError::Limit`] when the reference was booked with another amount.
pub async fn credit_balance_within(
    transaction: &Transaction<'_>,
    actor: Actor<'_>,
    credit: &BalanceCredit<'_>,
    now: DateTime<Utc>,
) -> Result<TopUpResult> {
    let (team_id, reference) = (credit.team_id, credit.reference.as_str());
    let booked = transaction
        .top_up_balance(team_id, credit.amount.cents(), reference, now)
        .await?;
    if booked.is_new {
        let subject = format!("{}, {reference}", credit.amount);
        transaction
            .record_activity(team_id, actor, "balance.credited", &subject, now)
            .await?;
    }
    Ok(booked)
}
