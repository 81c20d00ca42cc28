//! One mailpiece, with what happened to it.

use chrono::{DateTime, Utc};
use contract::read::{
    Mailpiece, MailpieceAddress, MailpieceAnswer, MailpieceDesign, MailpieceRefund,
};
use model::id::TeamId;
use model::mailpiece_state::WithheldMailpiece;
use store::{FollowedMailpiece, Store};
use uuid::Uuid;

use crate::error::FollowError;
use crate::history::{KnownHistory, build_history};
use crate::state::find_current_state;

/// Facts of a mailpiece that its history is made from: of more the newest.
pub const HISTORY_EVENTS: i64 = 200;

/// A mailpiece of the team with its history.
///
/// # Errors
/// [`FollowError::MailpieceNotFound`], also while it is not paid; or that the database cannot be asked.
pub async fn find_mailpiece(
    store: &Store,
    team_id: TeamId,
    mailpiece_id: Uuid,
    now: DateTime<Utc>,
) -> Result<MailpieceAnswer, FollowError> {
    let found = store
        .find_followed_mailpieces(team_id, &[mailpiece_id])
        .await?;
    let mailpiece = found
        .into_iter()
        .next()
        .ok_or(FollowError::MailpieceNotFound)?;
    let charge_id = mailpiece.charge_id;
    let events = store
        .list_mailpiece_events(team_id, mailpiece_id, HISTORY_EVENTS)
        .await?;
    let account = store.find_mailpiece_account(team_id, charge_id).await?;
    let refund = match mailpiece.withheld {
        Some(WithheldMailpiece::Cancelled) => store.find_charge_refund(team_id, charge_id).await?,
        _ => None,
    };
    let history = build_history(&KnownHistory {
        mailpiece: &mailpiece,
        events: &events,
        charge_kind: account.charge_kind,
        time_zone: account.time_zone,
        now,
    });
    Ok(MailpieceAnswer {
        refund: refund.map(|refund| MailpieceRefund {
            amount_cents: mailpiece.price_cents,
            settled_at: refund.settled_at,
        }),
        mailpiece: build_mailpiece(mailpiece),
        history,
        charge_id: charge_id.0,
    })
}

/// A mailpiece as it is told.
pub(crate) fn build_mailpiece(found: FollowedMailpiece) -> Mailpiece {
    let current = find_current_state(&found);
    let name = format!("{} {}", found.first_name, found.last_name);
    let zip = match &found.plus4 {
        Some(plus4) => format!("{}-{plus4}", found.zip),
        None => found.zip,
    };
    Mailpiece {
        id: found.mailpiece_id,
        campaign_id: found.campaign_id,
        step: found.step,
        reference: found.reference,
        state: current.state,
        state_basis: current.basis,
        state_since: current.since,
        price_cents: found.price_cents,
        postage: found.postage,
        product: found.product,
        design: MailpieceDesign {
            id: found.design_id,
            version: found.design_version,
        },
        mail_by_date: found.mail_by_date,
        print_after: found.print_after,
        test: false,
        created_at: found.created_at,
        name: name.trim().to_owned(),
        address: MailpieceAddress {
            line_1: found.line_1,
            line_2: found.line_2,
            city: found.city,
            state: found.region,
            zip,
        },
    }
}
