//! Signing in, once the password is known to be right or wrong.

use std::net::IpAddr;

use chrono::{DateTime, Utc};
use secret::SecretToken;
use store::{Actor, MemberCredentials, Result, Store, Transaction};

/// Where somebody signs in from.
#[derive(Debug, Clone, Copy)]
pub struct SignInSource {
    /// The address, for the log.
    pub address: IpAddr,
    /// The form in which the source is remembered.
    pub remembered: [u8; 32],
}

/// Begins a session for whoever has given the right password, in the place of the one that the browser had, if it had one. `None`
/// when the password has been changed or reset while it was checked.
///
/// # Errors
/// [`store::StoreError`] when the database cannot be asked.
pub async fn begin_session(
    store: &Store,
    account: &MemberCredentials,
    source: &SignInSource,
    replaced: Option<&[u8; 32]>,
    now: DateTime<Utc>,
) -> Result<Option<SecretToken>> {
    let session = SecretToken::random();
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    if !transaction.lock_credentials(account).await? {
        return Ok(None);
    }
    transaction
        .insert_session(account.user_id, &session.hash(), replaced, now)
        .await?;
    transaction
        .record_sign_in_source(account.user_id, &source.remembered, now)
        .await?;
    record_sign_in_activity(
        &transaction,
        account,
        "sign_in.succeeded",
        source.address,
        now,
    )
    .await?;
    transaction.commit().await?;
    Ok(Some(session))
}

/// Records that somebody did not know the account's password.
///
/// # Errors
/// [`store::StoreError`] when the database cannot be asked.
pub async fn record_failed_sign_in(
    store: &Store,
    account: &MemberCredentials,
    address: IpAddr,
    now: DateTime<Utc>,
) -> Result<()> {
    let mut connection = store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    record_sign_in_activity(&transaction, account, "sign_in.failed", address, now).await?;
    transaction.commit().await
}

async fn record_sign_in_activity(
    transaction: &Transaction<'_>,
    account: &MemberCredentials,
    action: &str,
    address: IpAddr,
    now: DateTime<Utc>,
) -> Result<()> {
    let actor = Actor::SignedOut {
        user_id: account.user_id,
        name: &account.name,
    };
    transaction
        .record_activity(
            account.team_id,
            actor,
            action,
            &format!("from {address}"),
            now,
        )
        .await
}
