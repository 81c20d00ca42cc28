//! What is refused keeps what was typed, and what is looked for is found as people write it.

use pillarbox_tests::{CAMPAIGN, build_recipient, wait_until};
use store::MemberRole;

use super::{console, member};

/// How a PNG begins, as far as it matters: bytes that no text has.
const PNG: &str = "\u{89}PNG\r\n\u{1a}\n\0\0\0\rIHDR";

/// `address`, in two bytes a character.
const UTF_16: &str = "a\0d\0d\0r\0e\0s\0s\0\n\0";

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_another_kind_is_refused_on_its_page_with_what_was_typed() {
    let (stack, url) = console().await;
    let admin = member(&stack, &url, MemberRole::Admin).await;
    let design = [
        ("name", "Spring leaves"),
        ("document", "{\"mine\": 1}"),
        ("file", PNG),
    ];
    let refused = admin.upload_form("/designs", &design).await;
    assert_eq!(refused.status, 422);
    for kept in [
        "Spring leaves",
        "mine",
        "not text in UTF-8",
        "aria-current=\"page\"",
    ] {
        assert!(refused.html.contains(kept), "{kept}: {}", refused.html);
    }
    let area = [("do", "change"), ("text", "my square"), ("file", PNG)];
    let refused = admin
        .upload_form(&format!("/campaigns/{CAMPAIGN}/area"), &area)
        .await;
    assert!(
        refused.status == 422 && refused.html.contains("my square"),
        "{}",
        refused.html
    );
    let list = format!("/campaigns/{CAMPAIGN}/do-not-mail/upload");
    let refused = admin.upload_form(&list, &[("file", UTF_16)]).await;
    assert_eq!(refused.status, 422);
    for shown in ["UTF-8", "aria-current=\"page\"", "Add a file"] {
        assert!(refused.html.contains(shown), "{shown}: {}", refused.html);
    }
    let sneaked = "address\n1 Main St\0, Austin, TX 78701\n";
    let refused = admin.upload_form(&list, &[("file", sneaked)]).await;
    assert!(
        refused.status == 422 && refused.html.contains("cannot be read as CSV"),
        "{}",
        refused.html
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recipient_is_found_by_last_name_comma_first_name() {
    let (stack, url) = console().await;
    let person = member(&stack, &url, MemberRole::Member).await;
    let mut ada = build_recipient(1);
    ada["first_name"] = "Ada".into();
    ada["last_name"] = "Miles".into();
    assert_eq!(
        stack
            .send_recipients(&[ada, build_recipient(2)])
            .await
            .reasons(),
        ["mailed", "mailed"]
    );
    let page = format!("/campaigns/{CAMPAIGN}/recipients?text=");
    wait_until("names are written for searches", async || {
        person
            .get(&format!("{page}miles"))
            .await
            .html
            .contains("Ada Miles")
    })
    .await;
    for typed in ["Miles%2C+Ada", "Miles%2C", "1+Main+St%2C+Austin"] {
        let found = person.get(&format!("{page}{typed}")).await.html;
        assert!(
            found.contains("Ada Miles") && !found.contains("2 Main"),
            "{typed}: {found}"
        );
    }
    let export = format!("/campaigns/{CAMPAIGN}/recipients.csv?text=Miles%2C+Ada");
    assert!(person.get(&export).await.html.contains("Miles"));
}
