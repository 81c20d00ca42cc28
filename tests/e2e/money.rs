//! The ledger: taken once, declined only when nothing was taken, and a check that finds what is wrong.

use accounts::{BalanceCredit, credit_balance};
use pillarbox_tests::{TestStack, build_recipients};
use serde_json::json;
use store::{Actor, BalanceDebit, ChargeState, StoreError};

/// A stack with one charge that is put back to the moment before its payment.
async fn with_open_charge() -> (TestStack, store::Charge) {
    let stack = TestStack::start().await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..3))
            .await
            .reasons(),
        ["mailed", "mailed"]
    );
    let row = stack
        .sql
        .query_one("SELECT team_id, charge_id FROM charges", &[])
        .await
        .unwrap();
    let (team_id, charge_id) = (
        model::id::TeamId(row.get(0)),
        model::id::ChargeId(row.get(1)),
    );
    stack
        .sql
        .batch_execute(
            "UPDATE charges SET state = 'reserved', settled_at = NULL;
             DELETE FROM ledger_entries WHERE transaction_id IN (SELECT transaction_id FROM ledger_transactions WHERE kind = 'charge');
             DELETE FROM ledger_transactions WHERE kind = 'charge';
             UPDATE ledger_accounts SET balance_cents = balance_cents + 158 WHERE account = 'prepaid';
             UPDATE ledger_accounts SET balance_cents = balance_cents - 158 WHERE account = 'sales'",
        )
        .await
        .unwrap();
    let charge = stack.store.find_charge(team_id, charge_id).await.unwrap();
    assert_eq!(charge.state, ChargeState::Reserved);
    (stack, charge)
}

async fn decline(stack: &TestStack, charge: &store::Charge) -> bool {
    let mut connection = stack.store.connection().await.unwrap();
    let transaction = connection.begin_transaction().await.unwrap();
    let declined = transaction
        .decline_charge(charge, stack.now())
        .await
        .unwrap();
    transaction.commit().await.unwrap();
    declined
}

#[tokio::test(flavor = "multi_thread")]
async fn a_charge_is_taken_once_however_often_it_is_tried() {
    let (stack, charge) = with_open_charge().await;
    let before = stack.store.find_balance(charge.team_id).await.unwrap();
    let take = || {
        stack.store.debit_balance(
            charge.team_id,
            charge.charge_id,
            charge.amount_cents,
            stack.now(),
        )
    };
    let (a, b, c, d) = tokio::join!(take(), take(), take(), take());
    for taken in [a, b, c, d] {
        assert_eq!(taken.unwrap(), BalanceDebit::Paid);
    }
    assert_eq!(
        stack.store.find_balance(charge.team_id).await.unwrap(),
        before - 158
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_paid_is_not_declined_and_what_was_declined_is_not_paid() {
    let (stack, charge) = with_open_charge().await;
    let take = || {
        stack.store.debit_balance(
            charge.team_id,
            charge.charge_id,
            charge.amount_cents,
            stack.now(),
        )
    };
    assert_eq!(take().await.unwrap(), BalanceDebit::Paid);
    assert!(!decline(&stack, &charge).await);
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        2
    );

    let (stack, charge) = with_open_charge().await;
    let take = || {
        stack.store.debit_balance(
            charge.team_id,
            charge.charge_id,
            charge.amount_cents,
            stack.now(),
        )
    };
    assert!(decline(&stack, &charge).await);
    assert!(matches!(take().await, Err(StoreError::LeaseLost)));
    assert_eq!(
        stack.query_count("SELECT count(*) FROM mailpieces").await,
        0
    );
    assert_eq!(
        stack
            .query_count("SELECT committed_cents FROM campaigns")
            .await,
        0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_top_up_with_the_same_reference_counts_once() {
    let stack = TestStack::start().await;
    let team = stack.store.find_team_by_name("Test").await.unwrap().team_id;
    let before = stack.store.find_balance(team).await.unwrap();
    let credit = async |amount: &str| {
        let credit = BalanceCredit {
            team_id: team,
            amount: amount.parse().unwrap(),
            reference: &"invoice-7".parse().unwrap(),
        };
        credit_balance(&stack.store, Actor::Operator, &credit, stack.now()).await
    };
    for is_new in [true, false] {
        let top_up = credit("$5.00").await.unwrap();
        assert_eq!(
            (top_up.is_new, top_up.balance_cents),
            (is_new, before + 500)
        );
    }
    let other = credit("$7.00").await;
    assert!(
        matches!(other, Err(StoreError::Limit(_))),
        "the same reference with another amount is a slip"
    );
    stack.assert_consistent().await;
}

/// The columns of a table that can be written.
const STORED_COLUMNS: &str =
    "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = $1 AND is_generated = 'NEVER'";

#[tokio::test(flavor = "multi_thread")]
async fn the_check_finds_each_rule_that_is_broken() {
    // A way to break each rule, by its name.
    let breaks = [
        (
            "a charge is the sum of its cards",
            "UPDATE mailpieces SET price_cents = 1 WHERE mailpiece_id = (SELECT min(mailpiece_id::text)::uuid FROM mailpieces)",
        ),
        ("a card has a charge that was not declined", "UPDATE charges SET state = 'declined'"),
        (
            "a settled charge is in the ledger with its amount, a declined one is not",
            "UPDATE charges SET amount_cents = 7",
        ),
        ("a charge in the ledger exists", "DELETE FROM charges"),
        ("a charge does not stay open", "UPDATE charges SET state = 'reserved', created_at = '2020-01-01'"),
        (
            "the entries of a ledger transaction sum to zero",
            "UPDATE ledger_entries SET amount_cents = 3 WHERE account = 'sales'",
        ),
        (
            "an account's balance is the sum of its entries",
            "UPDATE ledger_accounts SET balance_cents = 3 WHERE account = 'sales'",
        ),
        (
            "what a campaign's budget has committed is what its charges amount to without what was given back",
            "UPDATE campaigns SET committed_cents = 1",
        ),
        (
            "what was given back of a campaign's budget is the sum of its refunds",
            "UPDATE campaigns SET committed_cents = committed_cents - 1, refunded_cents = 1",
        ),
        (
            "what was given back of a charge is what its cancelled cards cost",
            "UPDATE mailpieces SET withheld = 'cancelled'",
        ),
        (
            "a settled refund is in the ledger with its amount, an owed one is not",
            "INSERT INTO refunds (team_id, refund_id, charge_id, campaign_id, mailpieces, amount_cents, state, payment, source,
                 created_at, settled_at, due_at)
             SELECT team_id, charge_id, charge_id, campaign_id, 1, 79, 'settled', 'balance', 'api', now(), now(), now() FROM charges",
        ),
        (
            "a refund in the ledger exists",
            "UPDATE ledger_transactions SET kind = 'refund', refund_id = charge_id, charge_id = NULL WHERE kind = 'charge'",
        ),
        (
            "an address is mailed once per campaign step within the duplicate window",
            "UPDATE mailpieces SET address_id = (SELECT address_id FROM mailpieces LIMIT 1)",
        ),
        ("a finished request mailed what its charge settled", "UPDATE sends SET mailed = 5"),
        ("a recipient shown as mailed has a card", "UPDATE recipients SET charge_id = gen_random_uuid()"),
        (
            "a print run has the cards that it claimed, but for those set aside",
            "INSERT INTO print_runs (run_id, product, state, mailpieces, settings, first_serial, lease_id, leased_until,
                 created_at)
             VALUES (gen_random_uuid(), 'letter', 'claimed', 1, '{}', 0, gen_random_uuid(), now(), now())",
        ),
        (
            "a card that is printed or about to be has a settled charge",
            "UPDATE charges SET state = 'reserved'; UPDATE mailpieces SET print_run_id = mailpiece_id, print_position = 1",
        ),
        (
            "a card that is printed or about to be is not withheld",
            "ALTER TABLE mailpieces DROP CONSTRAINT mailpieces_withheld_unprinted;
             INSERT INTO print_runs (run_id, product, state, mailpieces, settings, first_serial, lease_id, leased_until,
                 created_at)
             SELECT mailpiece_id, product, 'claimed', 1, '{}', 0, gen_random_uuid(), now(), now() FROM mailpieces;
             UPDATE mailpieces SET print_run_id = mailpiece_id, print_position = 1, withheld = 'held'",
        ),
    ];
    let rules: Vec<_> = store::Store::check_rule_names().collect();
    assert_eq!(
        breaks.map(|(rule, _)| rule).to_vec(),
        rules,
        "every rule is broken once"
    );
    let stack = TestStack::start().await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..3))
            .await
            .reasons(),
        ["mailed", "mailed"]
    );
    stack.assert_consistent().await;
    for (rule, sql) in breaks {
        stack
            .sql
            .batch_execute("CREATE SCHEMA IF NOT EXISTS kept")
            .await
            .unwrap();
        let tables = [
            "mailpieces",
            "charges",
            "ledger_transactions",
            "ledger_entries",
            "ledger_accounts",
            "refunds",
            "campaigns",
            "sends",
            "recipients",
            "print_runs",
        ];
        for table in tables {
            let keep = format!("CREATE TABLE kept.{table} AS SELECT * FROM {table}");
            stack.sql.batch_execute(&keep).await.unwrap();
        }
        stack.sql.batch_execute(sql).await.unwrap();
        let found = stack
            .store
            .check_consistency(stack.now(), 30, |_| {})
            .await
            .unwrap();
        assert!(
            found.iter().any(|discrepancy| discrepancy.rule == rule),
            "{rule}: {found:?}"
        );
        stack
            .sql
            .batch_execute("SET session_replication_role = replica")
            .await
            .unwrap();
        for table in tables {
            let columns: String = stack
                .sql
                .query_one(STORED_COLUMNS, &[&table])
                .await
                .unwrap()
                .get(0);
            let restore = format!(
                "DELETE FROM {table}; INSERT INTO {table} ({columns}) SELECT {columns} FROM kept.{table}"
            );
            stack.sql.batch_execute(&restore).await.unwrap();
        }
        stack
            .sql
            .batch_execute("SET session_replication_role = DEFAULT; DROP SCHEMA kept CASCADE")
            .await
            .unwrap();
        stack.assert_consistent().await;
    }
}

/// 2000 more charges with a card each, as sends leave them.
const MANY: &str = "
    CREATE TEMP TABLE made AS SELECT gen_random_uuid() AS charge_id FROM generate_series(1, 2000);
    INSERT INTO charges
        SELECT (jsonb_populate_record(NULL::charges, charge.was || jsonb_build_object('charge_id', made.charge_id))).*
        FROM (SELECT to_jsonb(charges) AS was FROM charges LIMIT 1) charge, made;
    INSERT INTO mailpieces
        SELECT (jsonb_populate_record(NULL::mailpieces, mailpiece.was || jsonb_build_object('charge_id', made.charge_id,
            'mailpiece_id', gen_random_uuid(), 'address_id', gen_random_uuid(), 'entry_id', gen_random_uuid(), 'code', NULL))).*
        FROM (SELECT to_jsonb(mailpieces) AS was FROM mailpieces LIMIT 1) mailpiece, made;
    INSERT INTO ledger_transactions (team_id, transaction_id, kind, charge_id, created_at)
        SELECT team_id, made.charge_id, 'charge', made.charge_id, now() FROM made, (SELECT team_id FROM charges LIMIT 1) charge;
    INSERT INTO ledger_entries
        SELECT team_id, charge_id, account, CASE account WHEN 'sales' THEN amount_cents ELSE -amount_cents END
        FROM charges JOIN made USING (charge_id), unnest(ARRAY['sales', 'prepaid']) account;
    UPDATE ledger_accounts SET balance_cents = (SELECT sum(amount_cents) FROM ledger_entries entry
        WHERE entry.account = ledger_accounts.account);
    UPDATE campaigns SET committed_cents = (SELECT sum(amount_cents) FROM charges)
        WHERE campaign_id = (SELECT campaign_id FROM charges LIMIT 1)";

#[tokio::test(flavor = "multi_thread")]
async fn the_check_finds_the_one_card_among_many_portions() {
    let stack = TestStack::start().await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..2))
            .await
            .reasons(),
        ["mailed"]
    );
    stack.sql.batch_execute(MANY).await.unwrap();
    stack.assert_consistent().await;
    let sql = "SELECT charge_id FROM charges ORDER BY charge_id OFFSET 1700 LIMIT 1";
    let charge_id: uuid::Uuid = stack.sql.query_one(sql, &[]).await.unwrap().get(0);
    let wrong = "UPDATE mailpieces SET price_cents = price_cents + 1 WHERE charge_id = $1";
    assert_eq!(stack.sql.execute(wrong, &[&charge_id]).await.unwrap(), 1);
    let mut told = Vec::new();
    let found = stack
        .store
        .check_consistency(stack.now(), 1, |progress| told.push(progress))
        .await
        .unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|found| (found.rule.as_str(), found.subject.clone()))
        .collect();
    assert_eq!(
        found,
        [("a charge is the sum of its cards", charge_id.to_string())]
    );
    let first: Vec<i64> = told
        .iter()
        .filter(|progress| progress.number == 1)
        .map(|progress| progress.rows)
        .collect();
    assert!(
        first.len() > 1 && first.is_sorted(),
        "in portions: {first:?}"
    );
    let rules = store::Store::check_rule_names().count();
    assert_eq!(told.last().map(|progress| progress.number), Some(rules));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_holds_at_most_ten_keys_and_a_revoked_one_makes_room() {
    let stack = TestStack::start().await;
    let keys: Vec<_> = (1..10)
        .map(
            |n| json!({"kind": if n % 2 == 0 { "formulas" } else { "full_access" }, "name": format!("k{n}")}),
        )
        .collect();
    stack
        .apply_team(json!({"teams": [{"name": "Test", "keys": keys}]}))
        .await;
    let eleventh =
        json!({"teams": [{"name": "Test", "keys": [{"kind": "full_access", "name": "k11"}]}]})
            .to_string();
    let (policy, folder) = (stack.target_policy(), std::path::Path::new("."));
    let apply =
        || pillarbox::apply::apply_text(&stack.store, &eleventh, folder, &policy, stack.now());
    let error = apply().await.unwrap_err().to_string();
    assert!(error.contains("10 active"), "{error}");
    let team = stack.store.find_team_by_name("Test").await.unwrap().team_id;
    let key = stack.store.list_api_keys(team).await.unwrap()[0].key_id;
    accounts::revoke_key(&stack.store, Actor::Operator, team, key, stack.now())
        .await
        .unwrap();
    assert!(apply().await.is_ok());
}
