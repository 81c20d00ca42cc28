//! Taking the money for a charge: from the team's prepaid balance, or from its card.
//!
//! Both are told the charge's id, so that a charge which is tried again after a crash is paid once.

mod answer;
mod refund;
mod stripe;

use std::time::Duration;

use anyhow::Context;
use chrono::{DateTime, Utc};
use model::id::ChargeId;
use store::{BalanceDebit, Charge, OwedRefund, PaymentKind, Store};

use tokio::sync::Semaphore;

use self::stripe::{PaymentOrder, StripeClient};

/// What came of taking the money. It is certain, and stays so when the charge is tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentOutcome {
    /// Taken, now or by an earlier try.
    Paid {
        /// The provider's id of the payment; none for a balance.
        reference: Option<String>,
    },
    /// Refused; nothing was taken.
    Declined {
        /// Why, as a sentence for people.
        detail: String,
    },
}

impl PaymentOutcome {
    /// Whether the money was taken.
    pub const fn is_paid(&self) -> bool {
        matches!(self, Self::Paid { .. })
    }
}

/// Whether the money was taken is not certain. The charge must stay open and be tried again with the same id.
#[derive(Debug, thiserror::Error)]
#[error("the payment of charge {charge_id} is not certain")]
pub struct PaymentUncertainError {
    /// The charge that stays open.
    pub charge_id: ChargeId,
    /// Why, for operators.
    #[source]
    pub reason: anyhow::Error,
}

/// Settings with which no payment can be taken.
#[derive(Debug, thiserror::Error)]
pub enum PaymentSettingsError {
    /// The address is no URL, or would send the key over the network in the clear.
    #[error("stripe.url must be an https URL")]
    Url,
    /// The key or version cannot stand in a header.
    #[error("stripe.secret_key and stripe.api_version must be plain text")]
    Header,
    /// No HTTP client can be made.
    #[error("no HTTP client can be made for stripe")]
    Client(#[source] reqwest::Error),
}

/// How long a payment waits for its place among those that wait for Stripe. One that gets none stays open, as if Stripe had not answered.
const PLACE_TIMEOUT: Duration = Duration::from_secs(5);

/// Every way to pay.
pub struct PaymentProcessor {
    store: Store,
    /// None without a secret key: no team can pay by card.
    stripe: Option<StripeClient>,
    stripe_permits: Semaphore,
}

impl PaymentProcessor {
    /// Makes ready to take payments, of which `at_stripe` wait for Stripe at a time. Nothing is connected yet; the process
    /// must have its TLS provider installed.
    ///
    /// # Errors
    /// [`PaymentSettingsError`] when the settings cannot be used.
    pub fn new(
        store: Store,
        settings: &runtime::config::StripeSettings,
        at_stripe: usize,
    ) -> Result<Self, PaymentSettingsError> {
        let stripe = match settings.secret_key.as_str() {
            "" => None,
            _ => Some(StripeClient::new(settings)?),
        };
        Ok(Self {
            store,
            stripe,
            stripe_permits: Semaphore::new(at_stripe),
        })
    }

    /// Takes a charge's money once, however often it is called with the charge.
    ///
    /// # Errors
    /// [`PaymentUncertainError`] when it is not certain whether the money was taken.
    pub async fn charge(
        &self,
        charge: &Charge,
        now: DateTime<Utc>,
    ) -> Result<PaymentOutcome, PaymentUncertainError> {
        let payment = match charge.payment {
            PaymentKind::Balance => self.charge_balance(charge, now).await,
            PaymentKind::Stripe => self.charge_card(charge, now).await,
        };
        let charge_id = charge.charge_id;
        payment.map_err(|reason| {
            count_charge(charge, "uncertain");
            PaymentUncertainError { charge_id, reason }
        })
    }

    /// Gives back a refund that is owed to a card, once, however often it is called with it. Returns Stripe's id of it.
    ///
    /// # Errors
    /// It is not certain that the money was given back: to be tried again with the same refund. The text is for operators.
    pub async fn give_back(&self, owed: &OwedRefund, now: DateTime<Utc>) -> anyhow::Result<String> {
        let stripe = self
            .stripe
            .as_ref()
            .context("stripe.secret_key is not set")?;
        let place = tokio::time::timeout(PLACE_TIMEOUT, self.stripe_permits.acquire()).await;
        let _place = place.context("too many payments wait for Stripe")?;
        stripe
            .give_back(owed, now)
            .await
            .map_err(anyhow::Error::msg)
    }

    async fn charge_balance(
        &self,
        charge: &Charge,
        now: DateTime<Utc>,
    ) -> anyhow::Result<PaymentOutcome> {
        let taken = self
            .store
            .debit_balance(charge.team_id, charge.charge_id, charge.amount_cents, now)
            .await;
        match taken? {
            BalanceDebit::Paid => Ok(PaymentOutcome::Paid { reference: None }),
            BalanceDebit::Insufficient => Ok(PaymentOutcome::Declined {
                detail: "The prepaid balance does not cover the charge.".to_owned(),
            }),
        }
    }

    async fn charge_card(
        &self,
        charge: &Charge,
        now: DateTime<Utc>,
    ) -> anyhow::Result<PaymentOutcome> {
        let stripe = self
            .stripe
            .as_ref()
            .context("stripe.secret_key is not set")?;
        let team = self.store.find_team(charge.team_id).await?;
        // A card that was taken off after the charge was made may have paid it before, so this is no decline.
        let customer = team
            .stripe_customer
            .context("the team no longer has a customer at Stripe")?;
        let payment_method = team
            .stripe_payment_method
            .context("the team no longer has a card at Stripe")?;
        let order = PaymentOrder {
            charge_id: charge.charge_id,
            amount_cents: charge.amount_cents,
            customer: &customer,
            payment_method: &payment_method,
            created_at: charge.created_at,
        };
        let place = tokio::time::timeout(PLACE_TIMEOUT, self.stripe_permits.acquire()).await;
        let _place = place.context("too many payments wait for Stripe")?;
        stripe.charge(&order, now).await.map_err(anyhow::Error::msg)
    }
}

/// Counts what came of a charge. Payments are those of the schema.
pub(crate) fn count_charge(charge: &Charge, result: &'static str) {
    let payment = charge.payment.as_str();
    metrics::counter!("pillarbox_charges_total", "payment" => payment, "result" => result)
        .increment(1);
}

/// An error with what caused it, in one line.
fn error_chain(error: impl std::error::Error + Send + Sync + 'static) -> String {
    format!("{:#}", anyhow::Error::from(error))
}

#[cfg(test)]
mod tests;
