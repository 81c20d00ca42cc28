//! Billing: the balance, prices, the ledger, charges per send, and top-ups that are asked for.

pub(crate) mod charge;
pub(crate) mod top_up;

use askama::Template;
use model::id::LedgerTransactionId;
use serde::Deserialize;
use store::{LedgerKind, LedgerLine, PaymentKind, TopUpRequest, TopUpRequestState};

use crate::extract::{MemberContext, PageQuery};
use crate::format::format_dollars;
use crate::frame::PageFrame;
use crate::page_error::{PageError, PageResult};
use crate::paging::{LINES, cut_page};
use crate::render::render_page;

/// The part of the navigation.
const PART: &str = "/billing";

/// Top-ups asked for that are shown: all that can be open, and some that are done.
const REQUESTS: i64 = 20;

/// What the list is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LedgerListKind {
    TopUps,
    Charges,
}

#[derive(Deserialize)]
pub(crate) struct LedgerQuery {
    kind: Option<LedgerListKind>,
    before: Option<LedgerTransactionId>,
}

/// What one card costs.
struct PriceRow {
    product: String,
    standard: String,
    first_class: String,
}

#[derive(Template)]
#[template(path = "billing.html")]
struct BillingPage {
    frame: PageFrame,
    balance: String,
    is_prepaid: bool,
    prices: Vec<PriceRow>,
    requests: Vec<TopUpRequest>,
    /// The amount that was typed, and what is wrong with it.
    amount: String,
    problem: Option<String>,
    kind: Option<LedgerListKind>,
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
            Some(LedgerListKind::TopUps) => "top-ups",
            Some(LedgerListKind::Charges) => "charges",
        }
    }
}

/// The page.
pub(crate) async fn show_billing(
    context: MemberContext,
    PageQuery(query): PageQuery<LedgerQuery>,
) -> PageResult {
    Ok(render_page(
        &billing_page(&context, query, BillingPageState::default()).await?,
    ))
}

/// What the page shows beside what is stored.
#[derive(Default)]
struct BillingPageState {
    amount: String,
    problem: Option<String>,
}

async fn billing_page(
    context: &MemberContext,
    LedgerQuery { kind, before }: LedgerQuery,
    typed: BillingPageState,
) -> Result<BillingPage, PageError> {
    let (store, team_id) = (context.store(), context.team_id());
    let ledger_kind = kind.map(|kind| match kind {
        LedgerListKind::TopUps => LedgerKind::TopUp,
        LedgerListKind::Charges => LedgerKind::Charge,
    });
    let mut lines = store
        .list_ledger_lines(team_id, ledger_kind, before, LINES + 1)
        .await?;
    let next = cut_page(&mut lines).map(|last| last.transaction_id);
    Ok(BillingPage {
        frame: context.frame(PART),
        balance: format_dollars(store.find_balance(team_id).await?),
        is_prepaid: store.find_team(team_id).await?.payment == PaymentKind::Balance,
        prices: price_rows(context),
        requests: store.list_top_ups(team_id, REQUESTS).await?,
        amount: typed.amount,
        problem: typed.problem,
        kind,
        lines,
        is_newest: before.is_none(),
        next,
    })
}

fn price_rows(context: &MemberContext) -> Vec<PriceRow> {
    let mut prices: Vec<_> = context.config().prices.iter().collect();
    prices.sort_by_key(|(product, price)| (price.standard, product.as_str()));
    let line = |(product, price): (&String, &runtime::config::PriceByPostage)| PriceRow {
        product: product_name(product),
        standard: format_dollars(price.standard),
        first_class: format_dollars(price.first_class),
    };
    prices.into_iter().map(line).collect()
}

/// A product or a postage, for people: `postcard_4x6` is a `Postcard 4x6`.
pub(crate) fn product_name(name: &str) -> String {
    let spaced = name.replace('_', " ");
    let mut letters = spaced.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
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
