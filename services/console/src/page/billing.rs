//! Billing: the balance, prices, the ledger, charges per send, and top-ups that are asked for.

mod charge;
mod top_up;

use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use contract::id::LedgerTransactionId;
use serde::Deserialize;
use store::{LedgerKind, LedgerLine, TopUpRequest, TopUpRequestState};

use crate::Console;
use crate::access::Person;
use crate::answer::{Frame, Notice, Noticed, page};
use crate::failure::Failure;
use crate::page::{LINES, cut};
use crate::route::{self, Access, Route};
use crate::show::dollars;

/// What there is.
pub(crate) fn routes() -> Vec<Route> {
    vec![
        route::page("/billing", Access::Member, show),
        route::page("/billing/charges", Access::Member, charge::list),
        route::page("/billing/charges/{charge_id}", Access::Member, charge::show),
        route::action("/billing/top-ups", Access::Owner, top_up::ask),
        route::action("/billing/top-ups/{request_id}/withdraw", Access::Owner, top_up::withdraw),
    ]
}

/// The part of the navigation.
const PART: &str = "/billing";

/// Top-ups asked for that are shown: all that can be open, and some that are done.
const REQUESTS: i64 = 20;

/// What the list is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    TopUps,
    Charges,
}

#[derive(Deserialize)]
struct LedgerQuery {
    kind: Option<Kind>,
    before: Option<LedgerTransactionId>,
}

/// What one card costs.
struct PriceLine {
    product: String,
    standard: String,
    first_class: String,
}

#[derive(Template)]
#[template(path = "billing.html")]
struct BillingPage {
    frame: Frame,
    balance: String,
    is_prepaid: bool,
    prices: Vec<PriceLine>,
    requests: Vec<TopUpRequest>,
    /// The amount that was typed, and what is wrong with it.
    amount: String,
    problem: Option<String>,
    kind: Option<Kind>,
    lines: Vec<LedgerLine>,
    is_newest: bool,
    next: Option<LedgerTransactionId>,
}

impl BillingPage {
    fn is_of(&self, name: &str) -> bool {
        self.kind_name() == name
    }

    fn kind_name(&self) -> &'static str {
        match self.kind {
            None => "",
            Some(Kind::TopUps) => "top-ups",
            Some(Kind::Charges) => "charges",
        }
    }
}

/// The page.
async fn show(
    State(console): State<Console>,
    person: Person,
    noticed: Result<Query<Noticed>, QueryRejection>,
    query: Result<Query<LedgerQuery>, QueryRejection>,
) -> Result<Response, Failure> {
    let (Query(Noticed { notice }), Query(query)) = (noticed?, query?);
    Ok(page(&billing_page(&console, &person, query, Typed { notice, ..Typed::default() }).await?))
}

/// What the page shows beside what is stored.
#[derive(Default)]
struct Typed {
    notice: Option<Notice>,
    amount: String,
    problem: Option<String>,
}

async fn billing_page(
    console: &Console,
    person: &Person,
    LedgerQuery { kind, before }: LedgerQuery,
    typed: Typed,
) -> Result<BillingPage, Failure> {
    let (store, team_id) = (&console.process.store, person.0.team_id);
    let ledger_kind = kind.map(|kind| match kind {
        Kind::TopUps => LedgerKind::TopUp,
        Kind::Charges => LedgerKind::Charge,
    });
    let mut lines = store.ledger_list(team_id, ledger_kind, before, LINES + 1).await?;
    let next = cut(&mut lines).map(|last| last.transaction_id);
    Ok(BillingPage {
        frame: Frame::new(person, PART).with_notice(typed.notice),
        balance: dollars(store.balance_get(team_id).await?),
        is_prepaid: store.team_get(team_id).await?.payment == "balance",
        prices: prices(console),
        requests: store.top_up_request_list(team_id, REQUESTS).await?,
        amount: typed.amount,
        problem: typed.problem,
        kind,
        lines,
        is_newest: before.is_none(),
        next,
    })
}

fn prices(console: &Console) -> Vec<PriceLine> {
    let mut prices: Vec<_> = console.process.config.prices.iter().collect();
    prices.sort_by_key(|(product, price)| (price.standard, product.as_str()));
    let line = |(product, price): (&String, &service::config::Price)| PriceLine {
        product: product_name(product),
        standard: dollars(price.standard),
        first_class: dollars(price.first_class),
    };
    prices.into_iter().map(line).collect()
}

/// A product or a postage, for people: `postcard_4x6` is a `Postcard 4x6`.
fn product_name(name: &str) -> String {
    let spaced = name.replace('_', " ");
    let mut letters = spaced.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// How far a top-up is, for people.
fn request_state(state: &TopUpRequestState) -> &'static str {
    match state {
        TopUpRequestState::Open => "Not booked yet",
        TopUpRequestState::Booked => "Booked",
        TopUpRequestState::Withdrawn => "Withdrawn",
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn products_are_named_for_people() {
        assert_eq!(super::product_name("postcard_4x6"), "Postcard 4x6");
        assert_eq!(super::product_name("letter"), "Letter");
    }
}
