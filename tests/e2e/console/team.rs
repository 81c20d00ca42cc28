//! People: links that work once, roles that hold at once, and sessions that end when they must.

use chrono::TimeDelta;
use model::id::MemberId;
use pillarbox_tests::{ConsoleClient, PASSWORD, TestStack};
use serde_json::{Value, json};
use store::{Actor, MemberRole};

use super::{console, foreigner, member, secret_in};

/// The id of the person with this address.
async fn user_id(stack: &TestStack, email: &str) -> MemberId {
    let sql = "SELECT member_id FROM members WHERE email = $1";
    MemberId(stack.sql.query_one(sql, &[&email]).await.unwrap().get(0))
}

/// The address of the newest person but the owner.
async fn address_of_the_other(stack: &TestStack) -> String {
    let sql = "SELECT email FROM members WHERE role <> 'owner' ORDER BY created_at DESC LIMIT 1";
    stack.sql.query_one(sql, &[]).await.unwrap().get(0)
}

const NEW_PASSWORD: &str = "indian paintbrush in may";

#[tokio::test(flavor = "multi_thread")]
async fn somebody_who_is_added_chooses_a_password_by_a_link_that_works_once_and_for_a_while() {
    let (stack, url) = console().await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    let form = [
        ("email", " Grace@Example.com"),
        ("name", "Grace Hill"),
        ("role", "admin"),
    ];
    let added = owner.post_and_follow("/team", &form).await;
    let link = secret_in(&added, "/password/");
    assert!(
        !owner.get("/team").await.html.contains(&link),
        "it is shown once"
    );
    let again = owner.post("/team", &form).await;
    assert!(
        again.status == 422
            && again
                .html
                .contains("grace@example.com has an account already")
    );
    let nobody = owner
        .post(
            "/team",
            &[("email", "nobody"), ("name", "X"), ("role", "member")],
        )
        .await;
    assert!(
        nobody.status == 422 && nobody.html.contains("is not an email address"),
        "{}",
        nobody.html
    );

    let mut grace = ConsoleClient::anonymous(&url);
    assert_eq!(
        grace
            .sign_in("grace@example.com", NEW_PASSWORD)
            .await
            .status,
        403
    );
    assert!(grace.get(&link).await.html.contains("grace@example.com"));
    let short = grace.post(&link, &[("password", "short")]).await;
    assert!(short.status == 422 && short.html.contains("a password has 10 to 200 characters"));
    let common = grace.post(&link, &[("password", "Password123!")]).await;
    assert!(
        common.status == 422 && common.html.contains("passwords that are tried first"),
        "{}",
        common.html
    );
    let own = grace
        .post(&link, &[("password", "Grace@example.com")])
        .await;
    assert!(
        own.status == 422 && own.html.contains("a password is not the e-mail address"),
        "{}",
        own.html
    );
    let set = grace.post(&link, &[("password", NEW_PASSWORD)]).await;
    assert_eq!((set.status.as_u16(), set.location()), (303, "/"));
    assert!(set.headers.contains_key("set-cookie"), "it signs in");
    assert_eq!(
        grace
            .post(&link, &[("password", NEW_PASSWORD)])
            .await
            .status,
        404,
        "it is used up"
    );
    assert_eq!(
        grace
            .sign_in("grace@example.com", NEW_PASSWORD)
            .await
            .status,
        303
    );
    assert!(grace.get("/team").await.html.contains("Grace Hill (you)"));
    assert!(
        owner
            .get("/activity")
            .await
            .html
            .contains("person.password_chosen")
    );

    let form = [
        ("email", "late@example.com"),
        ("name", "Late"),
        ("role", "member"),
    ];
    let late = secret_in(&owner.post_and_follow("/team", &form).await, "/password/");
    stack.clock.advance(TimeDelta::hours(72));
    let stranger = ConsoleClient::anonymous(&url);
    assert_eq!(stranger.get(&late).await.status, 404);
    assert_eq!(
        stranger
            .post(&late, &[("password", NEW_PASSWORD)])
            .await
            .status,
        404
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn who_adds_somebody_is_not_told_of_an_account_in_another_team() {
    let (stack, url) = console().await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    let other = foreigner(&stack, &url).await;
    let form = |email| [("email", email), ("name", "Grace Hill"), ("role", "admin")];
    let link = secret_in(
        &other
            .post_and_follow("/team", &form("grace@example.com"))
            .await,
        "/password/",
    );
    let mut grace = ConsoleClient::anonymous(&url);
    assert_eq!(
        grace
            .post(&link, &[("password", NEW_PASSWORD)])
            .await
            .status,
        303
    );

    // Of somebody with an account and of somebody without one the owner sees the same.
    let known = owner
        .post_and_follow("/team", &form("grace@example.com"))
        .await;
    let unknown = owner
        .post_and_follow("/team", &form("nobody@example.com"))
        .await;
    let (known_link, unknown_link) = (
        secret_in(&known, "/password/"),
        secret_in(&unknown, "/password/"),
    );
    let people = owner.get("/team").await.html;
    for email in ["grace@example.com", "nobody@example.com"] {
        assert!(people.contains(email), "{people}");
    }
    let pages = [grace.get(&known_link).await, grace.get(&unknown_link).await];
    let [one, two] = pages.map(|page| page.html.replace("grace@", "x@").replace("nobody@", "x@"));
    assert_eq!(one, two, "the links' pages are alike");
    let taken = ConsoleClient::anonymous(&url)
        .post(&known_link, &[("password", PASSWORD)])
        .await;
    assert!(
        taken.status == 422 && taken.html.contains("This link cannot be used"),
        "{}",
        taken.html
    );
    assert!(!taken.html.contains("another account"), "{}", taken.html);
    assert_eq!(
        ConsoleClient::anonymous(&url)
            .sign_in("grace@example.com", PASSWORD)
            .await
            .status,
        403
    );
    assert_eq!(
        grace
            .sign_in("grace@example.com", NEW_PASSWORD)
            .await
            .status,
        303,
        "her account is as it was"
    );
    assert!(
        grace.get("/").await.html.contains("Somebody else"),
        "in her team"
    );

    // While her password is reset the address stays hers.
    let sql = "SELECT member_id FROM members WHERE email = 'grace@example.com' AND is_claimed";
    let id = MemberId(stack.sql.query_one(sql, &[]).await.unwrap().get(0));
    let newer = secret_in(
        &other
            .post_and_follow(&format!("/team/{id}/reset-password"), &[])
            .await,
        "/password/",
    );
    assert_eq!(
        ConsoleClient::anonymous(&url)
            .post(&known_link, &[("password", PASSWORD)])
            .await
            .status,
        422
    );
    assert_eq!(
        grace.post(&newer, &[("password", PASSWORD)]).await.status,
        303
    );
    // The operator, who sees all teams, is told.
    let file = json!({"teams": [{"name": "Test", "users": [{"email": "grace@example.com", "name": "G", "role": "member"}]}]});
    let (folder, policy) = (std::path::Path::new("."), stack.target_policy());
    let applied = pillarbox::apply::apply_text(
        &stack.store,
        &file.to_string(),
        folder,
        &policy,
        stack.now(),
    )
    .await;
    assert!(
        applied
            .unwrap_err()
            .to_string()
            .contains("belongs to a person of another team")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_role_holds_at_once_and_ends_the_person_s_sessions() {
    let (stack, url) = console().await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    let mut person = member(&stack, &url, MemberRole::Member).await;
    let email = address_of_the_other(&stack).await;
    let path = format!("/team/{}", user_id(&stack, &email).await);
    let key = [("name", "Website"), ("kind", "full_access")];
    assert_eq!(person.post("/keys", &key).await.status, 403);
    let changed = owner
        .post(&format!("{path}/role"), &[("role", "admin")])
        .await;
    assert_eq!(changed.location(), "/team?notice=role-changed");
    assert_eq!(person.get("/").await.status, 303, "the session ended");
    person.sign_in(&email, PASSWORD).await;
    assert_eq!(person.post("/keys", &key).await.status, 200);

    owner.post(&format!("{path}/remove"), &[]).await;
    assert_eq!(person.get("/").await.status, 303);
    assert_eq!(person.sign_in(&email, PASSWORD).await.status, 403);
    let log = owner.get("/activity").await.html;
    assert!(
        log.contains("person.role_changed") && log.contains("member before, admin now"),
        "{log}"
    );
    assert!(log.contains("key.created"), "what the person did stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_always_has_an_owner() {
    let (stack, url) = console().await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    let sql = "SELECT member_id FROM members WHERE role = 'owner'";
    let own = format!(
        "/team/{}",
        MemberId(stack.sql.query_one(sql, &[]).await.unwrap().get(0))
    );
    let demote = async || {
        owner
            .post(&format!("{own}/role"), &[("role", "member")])
            .await
    };
    let refused = demote().await;
    assert!(
        refused.status == 422 && refused.html.contains("only owner"),
        "{}",
        refused.html
    );
    for action in ["remove", "reset-password"] {
        assert_eq!(
            owner.post(&format!("{own}/{action}"), &[]).await.status,
            422,
            "{action}"
        );
    }
    let second = member(&stack, &url, MemberRole::Owner).await;
    let same = owner
        .post(&format!("{own}/role"), &[("role", "owner")])
        .await;
    assert_eq!(same.location(), "/team?notice=nothing-changed");
    assert_eq!(demote().await.status, 303);
    assert_eq!(
        owner.get("/team").await.status,
        200,
        "the session at work stays"
    );
    assert_eq!(
        owner
            .post(
                "/team",
                &[("email", "a@b.example"), ("name", "A"), ("role", "owner")]
            )
            .await
            .status,
        403
    );
    // Of two who would remove each other at the same time one stays: the team's row is locked.
    assert_eq!(
        second
            .post(&format!("{own}/role"), &[("role", "owner")])
            .await
            .status,
        303
    );
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM members WHERE role = 'owner'")
            .await,
        2
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_ends_sessions_and_links_as_the_console_does_and_leaves_no_team_without_its_owner() {
    let (stack, url) = console().await;
    let apply = async |users: Value| {
        let file = json!({"teams": [{"name": "Test", "users": users}]}).to_string();
        let (folder, policy) = (std::path::Path::new("."), stack.target_policy());
        pillarbox::apply::apply_text(&stack.store, &file, folder, &policy, stack.now()).await
    };
    let user = |name: &str, role: &str, password: &str| json!({"email": format!("{name}@example.com"), "name": name, "role": role, "password": password});
    apply(json!([
        user("ada", "owner", PASSWORD),
        user("grace", "member", PASSWORD)
    ]))
    .await
    .unwrap();
    let (mut ada, mut grace) = (
        ConsoleClient::anonymous(&url),
        ConsoleClient::anonymous(&url),
    );
    ada.sign_in("ada@example.com", PASSWORD).await;
    grace.sign_in("grace@example.com", PASSWORD).await;

    apply(json!([user("grace", "member", PASSWORD)]))
        .await
        .unwrap();
    assert_eq!(grace.get("/").await.status, 200, "nothing has changed");
    apply(json!([user("grace", "admin", PASSWORD)]))
        .await
        .unwrap();
    assert_eq!(
        grace.get("/").await.status,
        303,
        "another role ends sessions"
    );

    let path = format!(
        "/team/{}/reset-password",
        user_id(&stack, "grace@example.com").await
    );
    let link = secret_in(&ada.post_and_follow(&path, &[]).await, "/password/");
    assert_eq!(grace.get(&link).await.status, 200);
    apply(json!([user("grace", "admin", NEW_PASSWORD)]))
        .await
        .unwrap();
    assert_eq!(
        grace.get(&link).await.status,
        404,
        "another password ends the link"
    );

    let refused = apply(json!([user("ada", "admin", PASSWORD)]))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        refused.starts_with("teams[0].users[0]: the team \"Test\" would be left without an owner"),
        "{refused}"
    );
    assert_eq!(ada.get("/team").await.status, 200, "nothing was done");
    let handed_over = json!([
        user("ada", "member", PASSWORD),
        user("grace", "owner", NEW_PASSWORD)
    ]);
    let applied = apply(handed_over).await.unwrap();
    let order: Vec<&str> = applied.teams[0]
        .users
        .iter()
        .map(|user| user.email.as_str())
        .collect();
    assert_eq!(
        order,
        ["ada@example.com", "grace@example.com"],
        "in the order of the file"
    );
    assert_eq!(ada.get("/").await.status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_owners_who_remove_each_other_at_once_leave_one() {
    let (stack, url) = console().await;
    let one = member(&stack, &url, MemberRole::Owner).await;
    let other = member(&stack, &url, MemberRole::Owner).await;
    let sql = "SELECT member_id FROM members ORDER BY created_at, member_id";
    let rows = stack.sql.query(sql, &[]).await.unwrap();
    let path = |index: usize| format!("/team/{}/remove", MemberId(rows[index].get(0)));
    let (first, second) = (path(0), path(1));
    tokio::join!(one.post(&second, &[]), other.post(&first, &[]));
    assert_eq!(
        stack
            .query_count("SELECT count(*) FROM members WHERE role = 'owner'")
            .await,
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_changed_with_the_present_one_and_other_sessions_end() {
    let (stack, url) = console().await;
    let mut person = member(&stack, &url, MemberRole::Member).await;
    let email = address_of_the_other(&stack).await;
    let mut elsewhere = ConsoleClient::anonymous(&url);
    elsewhere.sign_in(&email, PASSWORD).await;
    let stolen = person.clone();
    let change = async |present, new| {
        person
            .post("/account/password", &[("present", present), ("new", new)])
            .await
    };
    let wrong = change("not the password", NEW_PASSWORD).await;
    assert!(
        wrong.status == 422 && wrong.html.contains("not your present password"),
        "{}",
        wrong.html
    );
    let short = change(PASSWORD, "short").await;
    assert!(short.status == 422 && short.html.contains("a password has 10 to 200 characters"));
    assert_eq!(elsewhere.get("/").await.status, 200);
    let same = change(PASSWORD, PASSWORD).await;
    assert!(
        same.status == 422 && same.html.contains("this is your present password"),
        "{}",
        same.html
    );
    let changed = change(PASSWORD, NEW_PASSWORD).await;
    assert_eq!(changed.location(), "/account?notice=password-changed");
    person.keep_cookie(&changed);
    assert_eq!(
        stolen.get("/").await.status,
        303,
        "a copy of the session's token is worth nothing"
    );
    assert_eq!(
        (
            person.get("/").await.status.as_u16(),
            elsewhere.get("/").await.status.as_u16()
        ),
        (200, 303)
    );
    assert_eq!(elsewhere.sign_in(&email, PASSWORD).await.status, 403);
    assert_eq!(elsewhere.sign_in(&email, NEW_PASSWORD).await.status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_that_is_reset_or_set_by_the_operator_ends_all_sessions() {
    let (stack, url) = console().await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    let mut person = member(&stack, &url, MemberRole::Member).await;
    let email = address_of_the_other(&stack).await;
    let path = format!("/team/{}/reset-password", user_id(&stack, &email).await);
    let link = secret_in(&owner.post_and_follow(&path, &[]).await, "/password/");
    assert_eq!(person.get("/").await.status, 303);
    assert_eq!(
        person.sign_in(&email, PASSWORD).await.status,
        403,
        "the old password is worth nothing"
    );
    let newer = secret_in(&owner.post_and_follow(&path, &[]).await, "/password/");
    assert_eq!(
        person.get(&link).await.status,
        404,
        "a newer link takes its place"
    );
    assert_eq!(
        person.post(&newer, &[("password", PASSWORD)]).await.status,
        303
    );
    person.sign_in(&email, PASSWORD).await;
    assert_eq!(person.get("/").await.status, 200);
    let hash = secret::Password::try_from(NEW_PASSWORD.to_owned())
        .unwrap()
        .hash()
        .unwrap();
    accounts::set_password(
        &stack.store,
        Actor::Operator,
        &email.parse().unwrap(),
        &hash,
        stack.now(),
    )
    .await
    .unwrap();
    assert_eq!(person.get("/").await.status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_has_idempotency_keys_honoured_and_ignored_again() {
    let (stack, url) = console().await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    let honours = "SELECT count(*) FROM teams WHERE name = 'Test' AND honours_idempotency_keys";
    assert!(
        owner
            .get("/team")
            .await
            .html
            .contains("<code>Idempotency-Key</code> is ignored")
    );
    for (word, notice, count) in [
        ("honoured", "keys-honoured", 1),
        ("honoured", "nothing-changed", 1),
        ("ignored", "keys-ignored", 0),
    ] {
        let done = owner
            .post("/team/idempotency-keys", &[("idempotency_keys", word)])
            .await;
        assert_eq!(done.location(), format!("/team?notice={notice}"));
        assert_eq!(stack.query_count(honours).await, count);
        let shown = format!(
            "<code>Idempotency-Key</code> is {}",
            if count == 1 { "honoured" } else { "ignored" }
        );
        assert!(owner.get("/team").await.html.contains(&shown));
    }
    assert!(
        owner
            .get("/activity")
            .await
            .html
            .contains("Had Idempotency-Key honoured on sends")
    );
    let admin = member(&stack, &url, MemberRole::Admin).await;
    assert_eq!(
        admin
            .post(
                "/team/idempotency-keys",
                &[("idempotency_keys", "honoured")]
            )
            .await
            .status,
        403
    );
    assert_eq!(stack.query_count(honours).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_lets_formula_keys_see_people_and_masks_them_again() {
    let (stack, url) = console().await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    let shown = "SELECT count(*) FROM teams WHERE name = 'Test' AND formula_keys_see_people";
    assert!(
        owner
            .get("/team")
            .await
            .html
            .contains("see the people of the address book masked.")
    );
    for (word, notice, count) in [
        ("shown", "people-shown", 1),
        ("shown", "nothing-changed", 1),
        ("masked", "people-masked", 0),
    ] {
        let done = owner.post("/team/formula-keys", &[("people", word)]).await;
        assert_eq!(done.location(), format!("/team?notice={notice}"));
        assert_eq!(stack.query_count(shown).await, count);
        let sentence = format!(
            "address book {}.",
            if count == 1 { "as they are" } else { "masked" }
        );
        assert!(owner.get("/team").await.html.contains(&sentence));
        // A file that does not name the setting leaves it.
        stack
            .apply_team(json!({"teams": [{"name": "Test", "time_zone": "America/New_York"}]}))
            .await;
        assert_eq!(stack.query_count(shown).await, count);
    }
    assert!(
        owner
            .get("/activity")
            .await
            .html
            .contains("Let Formulas only keys see people")
    );
    let admin = member(&stack, &url, MemberRole::Admin).await;
    assert_eq!(
        admin
            .post("/team/formula-keys", &[("people", "shown")])
            .await
            .status,
        403
    );
    assert_eq!(stack.query_count(shown).await, 0);
}
