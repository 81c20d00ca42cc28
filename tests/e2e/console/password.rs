//! A password that is set or reset while somebody uses the one before.
//!
//! What happens meanwhile stands in a transaction of the test's own: whoever has read the password from before waits at the
//! person's row, and goes on when it is committed.

use pillarbox_tests::{ConsoleClient, ConsoleResponse, PASSWORD, TestStack, wait_until};
use secret::{Password, SecretToken};
use store::{Actor, MemberRole};
use tokio::task::JoinHandle;

use super::{console, member, secret_in};

/// What a reset that is under way does first.
const RESET: &str = "BEGIN; UPDATE members SET password_hash = NULL WHERE role = 'member'";

/// And last.
const RESET_DONE: &str = "DELETE FROM sessions USING members WHERE members.member_id = sessions.member_id AND role = 'member'; COMMIT";

const NEW_PASSWORD: &str = "indian paintbrush in may";

/// A console, a Member who is signed in, and the Member's e-mail address.
async fn with_member() -> (TestStack, String, ConsoleClient, String) {
    let (stack, url) = console().await;
    let person = member(&stack, &url, MemberRole::Member).await;
    let email = stack
        .sql
        .query_one("SELECT email FROM members", &[])
        .await
        .unwrap()
        .get(0);
    (stack, url, person, email)
}

/// Until this waits for the test's transaction, or is over.
async fn until_waiting<T>(stack: &TestStack, task: &JoinHandle<T>) {
    let sql = "SELECT count(*) FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid";
    wait_until("it waits for what is done meanwhile", async || {
        task.is_finished() || stack.query_count(sql).await > 0
    })
    .await;
}

/// What this is answered when the test's transaction, which is under way, ends so meanwhile.
async fn meanwhile(
    stack: &TestStack,
    answer: JoinHandle<ConsoleResponse>,
    end: &str,
) -> ConsoleResponse {
    until_waiting(stack, &answer).await;
    stack.sql.batch_execute(end).await.unwrap();
    answer.await.unwrap()
}

async fn sessions(stack: &TestStack) -> i64 {
    stack.query_count("SELECT count(*) FROM sessions").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_that_is_reset_while_it_is_checked_begins_no_session_and_counts_as_wrong() {
    let (stack, url, _, email) = with_member().await;
    stack
        .sql
        .execute("DELETE FROM sign_in_sources", &[])
        .await
        .unwrap();
    stack.sql.batch_execute(RESET).await.unwrap();
    let (mut late, address) = (ConsoleClient::anonymous(&url), email.clone());
    let answer = tokio::spawn(async move { late.sign_in(&address, PASSWORD).await });
    let refused = meanwhile(&stack, answer, RESET_DONE).await;
    assert!(
        refused.status == 403 && refused.html.contains("is not right"),
        "{}",
        refused.html
    );
    assert_eq!(sessions(&stack).await, 0);
    let failed = format!(
        "SELECT sum(requests) FROM rate_windows WHERE subject = convert_to('sign-in:{email}', 'UTF8')"
    );
    assert_eq!(stack.query_count(&failed).await, 1);
    let noted = "SELECT count(*) FROM activities WHERE action = 'sign_in.failed'";
    wait_until("the log has it", async || {
        stack.query_count(noted).await == 1
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_that_is_reset_while_it_is_checked_is_not_changed_and_the_new_link_stays() {
    let (stack, url, person, email) = with_member().await;
    let link = SecretToken::random();
    let insert =
        "INSERT INTO password_links SELECT member_id, $1, now(), now() + '1 day' FROM members";
    stack.sql.batch_execute(RESET).await.unwrap();
    stack
        .sql
        .execute(insert, &[&&link.hash()[..]])
        .await
        .unwrap();
    let form = [("present", PASSWORD), ("new", NEW_PASSWORD)];
    let answer = tokio::spawn(async move { person.post("/account/password", &form).await });
    let refused = meanwhile(&stack, answer, RESET_DONE).await;
    assert!(refused.status == 422, "{} {}", refused.status, refused.html);
    assert!(
        refused.html.contains("This is not your present password"),
        "{}",
        refused.html
    );
    assert_eq!(sessions(&stack).await, 0);
    let mut visitor = ConsoleClient::anonymous(&url);
    assert_eq!(visitor.sign_in(&email, NEW_PASSWORD).await.status, 403);
    let path = format!("/password/{}", link.reveal());
    assert_eq!(
        visitor
            .post(&path, &[("password", NEW_PASSWORD)])
            .await
            .status,
        303,
        "the owner's link works"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_another_one_replaces_while_it_is_used_sets_no_password() {
    let (stack, url) = console().await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    let form = [
        ("email", "grace@example.com"),
        ("name", "Grace"),
        ("role", "member"),
    ];
    let link = secret_in(&owner.post_and_follow("/team", &form).await, "/password/");
    stack.sql.batch_execute(RESET).await.unwrap();
    let (stranger, path) = (ConsoleClient::anonymous(&url), link.clone());
    let answer =
        tokio::spawn(async move { stranger.post(&path, &[("password", NEW_PASSWORD)]).await });
    let replaced = "UPDATE password_links SET token_hash = sha256('another'); COMMIT";
    let refused = meanwhile(&stack, answer, replaced).await;
    assert_eq!(refused.status, 404, "{}", refused.html);
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM members WHERE password_hash IS NULL")
            .await,
        1
    );
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM password_links")
            .await,
        1,
        "the newer one stays"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_that_the_operator_sets_ends_the_session_that_is_begun_meanwhile() {
    let (stack, _, _, email) = with_member().await;
    let signed_in = "BEGIN; SELECT 1 FROM members FOR NO KEY UPDATE; \
        INSERT INTO sessions SELECT sha256('fresh'), member_id, now(), now() FROM members";
    stack.sql.batch_execute(signed_in).await.unwrap();
    let hash = Password::try_from(NEW_PASSWORD.to_owned())
        .unwrap()
        .hash()
        .unwrap();
    let (store, now) = (stack.store.clone(), stack.now());
    let set = tokio::spawn(async move {
        let email = email.parse().unwrap();
        accounts::set_password(&store, Actor::Operator, &email, &hash, now).await
    });
    until_waiting(&stack, &set).await;
    stack.sql.batch_execute("COMMIT").await.unwrap();
    set.await.unwrap().unwrap();
    assert_eq!(sessions(&stack).await, 0);
}
