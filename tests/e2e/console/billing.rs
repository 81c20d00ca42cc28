//! Billing: what is shown is what the ledger holds, and nobody but the operator makes money.

use std::collections::BTreeSet;

use accounts::{BalanceCredit, credit_balance};
use pillarbox_tests::{TestStack, build_recipient, build_recipients};
use store::{Actor, MemberRole};

use super::{console, member};

/// The operator books what has arrived.
async fn credit(stack: &TestStack, amount: &str, reference: &str) {
    let credit = BalanceCredit {
        team_id: stack.store.list_teams("", 1).await.unwrap()[0].team_id,
        amount: amount.parse().unwrap(),
        reference: &reference.parse().unwrap(),
    };
    credit_balance(&stack.store, Actor::Operator, &credit, stack.now())
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn each_send_has_its_charge_and_the_ledger_tells_money_in_and_money_spent() {
    let (stack, url) = console().await;
    let person_at_work = member(&stack, &url, MemberRole::Member).await;
    assert!(
        person_at_work
            .get("/billing/charges")
            .await
            .html
            .contains("Nothing was charged yet")
    );
    stack.send_recipients(&build_recipients(1..3)).await;
    let billing = person_at_work.get("/billing").await.html;
    for part in [
        "$99,998.42",
        "-$1.58",
        "+$100,000.00",
        "<code>first</code>",
        "Postcard 4x6",
        "$0.79",
        "$0.99",
    ] {
        assert!(billing.contains(part), "{part}: {billing}");
    }
    let top_ups = person_at_work.get("/billing?kind=top-ups").await.html;
    assert!(top_ups.contains("+$100,000.00") && !top_ups.contains("-$1.58"));
    let charges = person_at_work.get("/billing?kind=charges").await.html;
    assert!(!charges.contains("+$100,000.00") && charges.contains("-$1.58"));

    let list = person_at_work.get("/billing/charges").await.html;
    let start = list.find("/billing/charges/").expect("a charge");
    let charge = person_at_work
        .get(list[start..].split('"').next().unwrap())
        .await
        .html;
    for part in [
        "Paid",
        "$1.58",
        "Postcard 4x6",
        "PA-TEST01",
        "<td class=\"number\">2</td>",
    ] {
        assert!(charge.contains(part), "{part}: {charge}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_charge_is_shown_though_no_money_moved() {
    let (stack, url) = console().await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    let sql = "UPDATE ledger_accounts SET balance_cents = 78 WHERE account = 'prepaid'";
    stack.sql.execute(sql, &[]).await.unwrap();
    assert_eq!(
        stack.send_recipients(&[build_recipient(1)]).await.reasons(),
        ["payment_failed"]
    );
    let charges = owner.get("/billing/charges").await.html;
    assert!(charges.contains("Declined, nothing mailed"), "{charges}");
    assert!(
        owner
            .get("/billing?kind=charges")
            .await
            .html
            .contains("Nothing is booked yet")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_ledger_is_walked_page_by_page_without_a_gap() {
    let (stack, url) = console().await;
    for number in 0..120 {
        credit(&stack, "$1.00", &format!("wire-{number}")).await;
    }
    let member = member(&stack, &url, MemberRole::Member).await;
    let (mut next, mut seen, mut pages) = (Some("/billing?kind=top-ups".to_owned()), Vec::new(), 0);
    while let Some(address) = next {
        let html = member.get(&address).await.html;
        seen.extend(
            html.split("<code>wire-")
                .skip(1)
                .map(|rest| rest.split('<').next().unwrap().to_owned()),
        );
        let more = html
            .split("<a href=\"")
            .find(|rest| rest.contains("rel=\"next\""));
        next = more.map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"));
        pages += 1;
    }
    assert_eq!(
        (
            seen.len(),
            seen.iter().collect::<BTreeSet<_>>().len(),
            pages
        ),
        (120, 120, 3)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_top_up_that_an_owner_asks_for_is_money_when_the_operator_has_booked_it() {
    let (stack, url) = console().await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    let team_id = stack.store.list_teams("", 1).await.unwrap()[0].team_id;
    let ask = async |amount| owner.post("/billing/top-ups", &[("amount", amount)]).await;
    let wrong = ask("1.5").await;
    assert_eq!(wrong.status, 422);
    assert!(
        wrong.html.contains("is not an amount of dollars") && wrong.html.contains("value=\"1.5\"")
    );
    for amount in ["$250", "$99"] {
        assert_eq!(ask(amount).await.location(), "/billing?notice=top-up-asked");
    }
    assert_eq!(
        stack.store.find_balance(team_id).await.unwrap(),
        10_000_000,
        "asking makes no money"
    );

    let open = stack.store.list_open_top_ups(None, 10).await.unwrap();
    let told: Vec<_> = open
        .iter()
        .map(|request| (request.team.as_str(), request.amount_cents))
        .collect();
    assert_eq!(told, [("Test", 25_000), ("Test", 9_900)]);
    credit(&stack, "$250.00", &open[0].reference).await;
    let billing = owner.get("/billing").await.html;
    assert!(
        billing.contains("Booked")
            && billing.contains("Not booked yet")
            && billing.contains("$100,250.00")
    );
    let withdraw = |id| format!("/billing/top-ups/{id}/withdraw");
    let booked = owner.post(&withdraw(open[0].request_id), &[]).await;
    assert!(
        owner
            .get(booked.location())
            .await
            .html
            .contains("is already booked"),
        "{}",
        booked.html
    );
    assert_eq!(
        owner
            .post(&withdraw(open[1].request_id), &[])
            .await
            .location(),
        "/billing?notice=top-up-withdrawn"
    );
    let again = owner.post(&withdraw(open[1].request_id), &[]).await;
    assert!(
        owner
            .get(again.location())
            .await
            .html
            .contains("was withdrawn already"),
        "{}",
        again.html
    );
    assert!(
        stack
            .store
            .list_open_top_ups(None, 10)
            .await
            .unwrap()
            .is_empty()
    );

    for _ in 0..10 {
        assert_eq!(ask("5").await.status, 303);
    }
    let eleventh = ask("5").await;
    assert!(eleventh.status == 422 && eleventh.html.contains("10 top-ups that are not booked yet"));
    stack.assert_consistent().await;
}
