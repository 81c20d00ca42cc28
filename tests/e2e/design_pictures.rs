//! Pictures that recipients bring and that designs have: fetched once, from public hosts only, within their bounds.

use std::path::Path;

use chrono::TimeDelta;
use outbound::OutboundClient;
use pictures::{PictureFetcher, ResolvedPicture};
use pillarbox::apply::{apply_text, fetch_pictures};
use pillarbox_tests::{
    PictureHost, SecurePictureHost, SpawnedProcess, StackOptions, TestStack, build_recipient,
    build_recipients, fixed_picture, postcard_design, variable_picture, wait_until,
};
use runtime::Config;
use serde_json::{Value, json};
use storage::Storage;
use store::{PictureOutcome, PictureUse};

fn with_photo(number: usize, link: &str) -> Value {
    let mut person = build_recipient(number);
    person["photo"] = link.into();
    person
}

/// A stack whose postcard has a picture by recipient, without a default.
async fn with_photos(settings: &[(&'static str, &str)]) -> TestStack {
    let settings = settings
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect();
    let stack = TestStack::with_options(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    stack
        .apply_design(postcard_design(&[variable_picture(Value::Null)]), json!({}))
        .await;
    stack
}

/// For each result the codes of its warnings, with commas.
fn warnings(answer: &Value) -> Vec<String> {
    let results = answer["results"].as_array().unwrap().iter();
    let codes = results.map(|result| {
        let warnings = result["warnings"].as_array().cloned().unwrap_or_default();
        let codes: Vec<_> = warnings
            .iter()
            .map(|warning| warning["code"].as_str().unwrap().to_owned())
            .collect();
        codes.join(",")
    });
    codes.collect()
}

/// What fetches pictures, and where they are kept, as the stack's processes have them.
fn pictures_of(stack: &TestStack) -> (PictureFetcher, Storage) {
    let config = Config::with(stack.settings.clone()).unwrap();
    let client = OutboundClient::new(stack.target_policy()).unwrap();
    let storage = Storage::new(&config.storage).unwrap();
    let (store, clock) = (stack.store.clone(), stack.clock.clone());
    (
        PictureFetcher::new(
            client,
            storage.clone(),
            store,
            clock,
            config.pictures.clone(),
        ),
        storage,
    )
}

fn kept_file(stack: &TestStack, content: &Value, link: &str) -> Vec<u8> {
    let folder = &stack.settings["PILLARBOX__STORAGE__FOLDER"];
    let name = content["pictures"][link].as_str().expect("a kept picture");
    std::fs::read(Path::new(folder).join(name)).expect("its file")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variable_picture_is_fetched_once_per_link_and_kept_for_printing() {
    let (stack, host) = (with_photos(&[]).await, PictureHost::start().await);
    let (first, second) = (host.link("/picture/a"), host.link("/jpeg/b"));
    let send = [
        with_photo(1, &first),
        with_photo(2, &second),
        with_photo(3, &first),
        with_photo(4, &format!("{first}#fragment")),
    ];
    let answer = stack.send_recipients(&send).await;
    assert_eq!(answer.reasons(), ["mailed"; 4]);
    assert_eq!(warnings(&answer.json()), [""; 4]);
    // Later requests know them; another request has other people.
    assert_eq!(
        stack
            .send_recipients(&[with_photo(5, &first)])
            .await
            .reasons(),
        ["mailed"]
    );
    assert_eq!(
        [
            host.count_requests("/picture/a"),
            host.count_requests("/jpeg/b")
        ],
        [1, 1]
    );
    let contents = stack.list_contents().await;
    assert_eq!(contents[0]["fields"], json!({"photo": first}));
    assert!(kept_file(&stack, &contents[0], &first).starts_with(b"\x89PNG"));
    assert!(kept_file(&stack, &contents[1], &second).starts_with(b"\xff\xd8"));
    assert_eq!(contents[0]["pictures"], contents[4]["pictures"]);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_picture_is_fetched_again_after_a_day_and_one_that_failed_after_minutes() {
    let (stack, host) = (with_photos(&[]).await, PictureHost::start().await);
    let (good, bad) = (host.link("/picture/a"), host.link("/status/404"));
    let send = |first: usize| [with_photo(first, &good), with_photo(first + 1, &bad)];
    let asked = || {
        [
            host.count_requests("/picture/a"),
            host.count_requests("/status/404"),
        ]
    };
    stack.send_recipients(&send(1)).await;
    stack.send_recipients(&send(3)).await;
    assert_eq!(asked(), [1, 1]);
    stack.clock.advance(TimeDelta::minutes(6));
    stack.send_recipients(&send(5)).await;
    assert_eq!(asked(), [1, 2]);
    stack.clock.advance(TimeDelta::hours(25));
    assert_eq!(
        warnings(&stack.send_recipients(&send(7)).await.json()),
        ["", "variable_image_blank"]
    );
    assert_eq!(asked(), [2, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn variable_image_blank_when_there_is_no_usable_picture_and_no_default() {
    let (stack, host) = (
        with_photos(&[("PICTURES__MAX_BYTES", "100000")]).await,
        PictureHost::start().await,
    );
    let cases = [
        ("", "There is no picture in \"Photo\""),
        ("not a link", "not a web link"),
        ("ftp://example.com/a.png", "https://"),
        (&host.link("/status/404"), "status 404"),
        (&host.link("/text"), "neither a PNG nor a JPEG"),
        (&host.link("/endless"), "more than 100000 bytes"),
        (&host.link("/bomb"), "20000 by 20000 pixels"),
        (&host.link("/to//text"), "neither a PNG nor a JPEG"),
        (
            &host.link("/to//to//to//to//picture/a"),
            "leads on too often",
        ),
        (&host.link("/half/a"), "damaged"),
        ("http://127.0.0.1:1/a.png", "cannot be reached"),
    ];
    let send: Vec<Value> = cases
        .iter()
        .enumerate()
        .map(|(at, (link, _))| with_photo(at + 1, link))
        .collect();
    let answer = stack.send_recipients(&send).await;
    assert_eq!(answer.reasons(), vec!["mailed"; cases.len()]);
    let answer = answer.json();
    for ((link, expected), result) in cases.iter().zip(answer["results"].as_array().unwrap()) {
        let warning = &result["warnings"][0];
        assert_eq!(
            (&warning["code"], &warning["field"]),
            (&"variable_image_blank".into(), &"Photo".into())
        );
        let detail = warning["detail"].as_str().unwrap();
        assert!(
            detail.contains(expected) && detail.contains("blank"),
            "{link}: {detail}"
        );
        assert_eq!(result["warnings"].as_array().unwrap().len(), 1);
    }
    assert!(
        stack
            .list_contents()
            .await
            .iter()
            .all(|content| content.get("pictures").is_none())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn variable_image_fallback_prints_the_designs_default() {
    let (stack, host) = (with_photos(&[]).await, PictureHost::start().await);
    let default = "https://pictures.example/default.png";
    stack
        .record_design_picture(
            default,
            PictureOutcome::Kept("pictures/designs/x.png".to_owned()),
        )
        .await;
    stack
        .save_design(postcard_design(&[variable_picture(default.into())]))
        .await;
    let good = host.link("/picture/a");
    let answer = stack
        .send_recipients(&[
            with_photo(1, &good),
            with_photo(2, &host.link("/text")),
            build_recipient(3),
        ])
        .await;
    assert_eq!(
        warnings(&answer.json()),
        ["", "variable_image_fallback", "variable_image_fallback"]
    );
    let contents = stack.list_contents().await;
    assert!(
        contents[0]["pictures"][&good].is_string() && contents[0]["pictures"][default].is_null()
    );
    for content in &contents[1..] {
        assert_eq!(
            content["pictures"],
            json!({default: "pictures/designs/x.png"})
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn variable_image_missing_when_the_request_wants_every_picture() {
    let (stack, host) = (with_photos(&[]).await, PictureHost::start().await);
    let default = "https://pictures.example/default.png";
    stack
        .record_design_picture(
            default,
            PictureOutcome::Kept("pictures/designs/x.png".to_owned()),
        )
        .await;
    stack
        .save_design(postcard_design(&[variable_picture(default.into())]))
        .await;
    let recipients = [
        with_photo(1, &host.link("/picture/a")),
        with_photo(2, &host.link("/text")),
        build_recipient(3),
    ];
    let body = json!({"campaign_id": pillarbox_tests::CAMPAIGN, "recipients": recipients,
        "require_variable_images": true});
    let answer = stack.post_send(&body).await;
    assert_eq!(
        answer.reasons(),
        ["mailed", "variable_image_missing", "variable_image_missing"]
    );
    let detail = answer.json()["results"][1]["detail"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        detail.contains("Photo") && detail.contains("neither a PNG nor a JPEG"),
        "{detail}"
    );
    assert_eq!(
        stack
            .query_count("SELECT sum(amount_cents)::bigint FROM charges")
            .await,
        79
    );
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_hangs_costs_its_own_pictures_only() {
    let settings = [
        ("PICTURES__TIMEOUT_MS", "200"),
        ("PICTURES__REQUEST_TIMEOUT_MS", "3000"),
    ];
    let (stack, slow, good) = (
        with_photos(&settings).await,
        PictureHost::start().await,
        PictureHost::start_on("127.0.0.2").await,
    );
    let mut send: Vec<Value> = (1..=60)
        .map(|number| with_photo(number, &slow.link(&format!("/hang/{number}"))))
        .collect();
    send.push(with_photo(61, &good.link("/picture/a")));
    let answer = stack.send_recipients(&send).await;
    assert_eq!(answer.reasons(), ["mailed"; 61]);
    let warnings = warnings(&answer.json());
    assert_eq!(warnings[..60], ["variable_image_blank"; 60]);
    assert_eq!(warnings[60], "");
    // After some that it never delivered it was not asked any more, which is what the others' owners are told.
    assert!(
        slow.count_all_requests() < 60,
        "{}",
        slow.count_all_requests()
    );
    let detail = answer.json()["results"][59]["warnings"][0]["detail"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        detail.contains("its host did not deliver 8 other pictures"),
        "{detail}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_that_hang_take_no_picture_from_a_third() {
    let settings = [
        ("PICTURES__TIMEOUT_MS", "60000"),
        ("PICTURES__REQUEST_TIMEOUT_MS", "4000"),
    ];
    let stack = with_photos(&settings).await;
    let (first, second, good) = (
        PictureHost::start().await,
        PictureHost::start().await,
        PictureHost::start().await,
    );
    let hanging = |host: &PictureHost, number: usize| host.link(&format!("/hang/{number}"));
    let links = (1..=20).map(|number| hanging(&first, number));
    let links = links.chain((1..=20).map(|number| hanging(&second, number)));
    let links = links.chain((1..=30).map(|number| good.link(&format!("/picture/{number}"))));
    let send: Vec<Value> = links
        .enumerate()
        .map(|(at, link)| with_photo(at + 1, &link))
        .collect();
    let warnings = warnings(&stack.send_recipients(&send).await.json());
    assert_eq!(warnings[..40], ["variable_image_blank"; 40]);
    assert_eq!(warnings[40..], [""; 30]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_may_take_longer_than_a_lease() {
    let (stack, host) = (
        with_photos(&[("MAILER__LEASE_MS", "1500")]).await,
        PictureHost::start().await,
    );
    let answer = stack
        .send_recipients(&[with_photo(1, &host.link("/slow/a"))])
        .await;
    assert_eq!(warnings(&answer.json()), [""]);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_to_a_private_host_costs_no_picture_beside_it() {
    let private = PictureHost::start().await;
    let stack = with_photos(&[("OUTBOUND__ALLOWED_NETWORKS", "127.0.0.2/32")]).await;
    let public = PictureHost::start_on("127.0.0.2").await;
    let inside = |number: usize| {
        public.link(&format!(
            "/to/{}",
            private.link(&format!("/picture/{number}"))
        ))
    };
    let mut send: Vec<Value> = (1..=30)
        .map(|number| with_photo(number, &inside(number)))
        .collect();
    send.extend(
        (31..=40).map(|number| with_photo(number, &public.link(&format!("/picture/{number}")))),
    );
    let warnings = warnings(&stack.send_recipients(&send).await.json());
    assert_eq!(warnings[..30], ["variable_image_blank"; 30]);
    assert_eq!(warnings[30..], [""; 10]);
    assert_eq!(private.count_all_requests(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_that_there_is_no_time_for_count_as_unusable_and_are_tried_again() {
    let settings = [
        ("PICTURES__TIMEOUT_MS", "60000"),
        ("PICTURES__REQUEST_TIMEOUT_MS", "300"),
    ];
    let (stack, host) = (with_photos(&settings).await, PictureHost::start().await);
    let send = [
        with_photo(1, &host.link("/hang")),
        with_photo(2, &host.link("/picture/a")),
    ];
    let answer = stack.send_recipients(&send).await.json();
    assert_eq!(warnings(&answer), ["variable_image_blank", ""]);
    let detail = answer["results"][0]["warnings"][0]["detail"]
        .as_str()
        .unwrap();
    assert!(detail.contains("took too long"), "{detail}");
    stack
        .send_recipients(&[with_photo(3, &host.link("/hang"))])
        .await;
    assert_eq!(host.count_requests("/hang"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_waits_for_pictures_keeps_no_other_waiting() {
    let settings = [
        ("PICTURES__TIMEOUT_MS", "60000"),
        ("MAILER__LEASE_MS", "120000"),
    ];
    let (stack, host) = (with_photos(&settings).await, PictureHost::start().await);
    stack
        .save_campaign(json!({"id": "PA-PLAIN1", "name": "Plain"}))
        .await;
    let recipients = [with_photo(1, &host.link("/hang"))];
    let slow = stack.send_recipients(&recipients);
    let others = async {
        wait_until("the host is asked", async || {
            host.count_requests("/hang") == 1
        })
        .await;
        stack
            .send_recipients_to("PA-PLAIN1", &build_recipients(2..4))
            .await
    };
    tokio::select! {
        _ = slow => panic!("the picture cannot have come"),
        answer = others => assert_eq!(answer.reasons(), ["mailed"; 2]),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_on_private_hosts_are_not_fetched_also_not_by_a_redirect() {
    let private = PictureHost::start().await;
    let stack = with_photos(&[("OUTBOUND__ALLOWED_NETWORKS", "127.0.0.2/32")]).await;
    let public = PictureHost::start_on("127.0.0.2").await;
    let inside = private.link("/picture/a");
    let port = inside.rsplit_once(':').unwrap().1;
    let send = [
        with_photo(1, &inside),
        with_photo(2, &format!("http://localhost:{port}")),
        with_photo(3, &format!("http://[::ffff:127.0.0.1]:{port}")),
        with_photo(4, &public.link(&format!("/to/{inside}"))),
        with_photo(5, &public.link("/picture/a")),
    ];
    let answer = stack.send_recipients(&send).await.json();
    assert_eq!(warnings(&answer)[..4], ["variable_image_blank"; 4]);
    assert_eq!(warnings(&answer)[4], "");
    let detail = answer["results"][3]["warnings"][0]["detail"]
        .as_str()
        .unwrap();
    assert!(detail.contains("not on the public internet"), "{detail}");
    assert_eq!(private.count_all_requests(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_fetches_a_bounded_number_of_pictures() {
    let (stack, host) = (
        with_photos(&[("PICTURES__PER_REQUEST", "2")]).await,
        PictureHost::start().await,
    );
    let send: Vec<Value> = (1..=4)
        .map(|number| with_photo(number, &host.link(&format!("/picture/{}", number.min(3)))))
        .collect();
    let answer = stack.send_recipients(&send).await.json();
    assert_eq!(
        warnings(&answer),
        ["", "", "variable_image_blank", "variable_image_blank"]
    );
    assert_eq!(host.count_all_requests(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn design_cannot_render_when_a_fixed_picture_cannot_be_used() {
    let stack = TestStack::start().await;
    let link = "https://127.0.0.1:1/logo.png";
    stack
        .apply_design(postcard_design(&[fixed_picture(link)]), json!({}))
        .await;
    let answer = stack.send_recipients(&build_recipients(1..3)).await;
    assert_eq!(answer.error(), (409, "design_cannot_render".to_owned()));
    let message = answer.json()["message"].as_str().unwrap().to_owned();
    for part in ["\"Designed\"", "front", "\"logo\"", "cannot be reached"] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(stack.query_count("SELECT count(*) FROM sends").await, 0);
    // A later step's picture counts as well.
    let steps = json!({"steps": [{"design": "Card", "postage": "standard"},
        {"design": "Designed", "postage": "standard", "delay_days": 3}]});
    stack.save_campaign(steps).await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..3))
            .await
            .error()
            .0,
        409
    );
    stack
        .record_design_picture(
            link,
            PictureOutcome::Kept("pictures/designs/logo.png".to_owned()),
        )
        .await;
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..3))
            .await
            .reasons(),
        ["mailed"; 2]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_design_keeps_its_picture_though_the_link_dies() {
    let stack = TestStack::start().await;
    let link = "https://127.0.0.1:1/logo.png";
    stack
        .record_design_picture(
            link,
            PictureOutcome::Kept("pictures/designs/logo.png".to_owned()),
        )
        .await;
    stack
        .apply_design(postcard_design(&[fixed_picture(link)]), json!({}))
        .await;
    stack.clock.advance(TimeDelta::days(400));
    assert_eq!(
        stack
            .send_recipients(&build_recipients(1..2))
            .await
            .reasons(),
        ["mailed"]
    );
    assert_eq!(
        stack.list_contents().await[0]["pictures"],
        json!({link: "pictures/designs/logo.png"})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_designs_picture_is_fetched_again_when_it_is_saved_and_stays_when_that_fails() {
    let (stack, host) = (TestStack::start().await, PictureHost::start().await);
    let (pictures, _storage) = pictures_of(&stack);
    let team = stack.store.find_team_by_name("Test").await.unwrap().team_id;
    let link = host.link("/picture/logo");
    let until = || tokio::time::Instant::now() + pictures.request_time();
    let resolve = async || {
        pictures
            .resolve_links(team, PictureUse::Design, [&*link], until())
            .await
            .unwrap()
    };
    let kept = resolve().await[&*link].clone();
    assert!(matches!(kept, ResolvedPicture::Kept(_)));
    stack.clock.advance(TimeDelta::days(400));
    assert_eq!(resolve().await[&*link], kept);
    assert_eq!(host.count_requests("/picture/logo"), 1);
    assert_eq!(
        pictures.refetch_links(team, [&*link]).await.unwrap()[&*link],
        kept
    );
    assert_eq!(host.count_requests("/picture/logo"), 2);
    host.go_down();
    let again = pictures.refetch_links(team, [&*link]).await.unwrap();
    assert_eq!(
        again[&*link],
        ResolvedPicture::Unusable(
            "its host answered with status 503 (the host has a problem)".to_owned()
        )
    );
    assert_eq!(resolve().await[&*link], kept);
}

#[tokio::test(flavor = "multi_thread")]
async fn applying_a_file_says_which_pictures_of_its_designs_cannot_be_used() {
    let stack = TestStack::start().await;
    let config = Config::with(stack.settings.clone()).unwrap();
    let document = postcard_design(&[fixed_picture("https://127.0.0.1:1/logo.png")]);
    let file = json!({"teams": [{"name": "Test", "designs": [{"name": "Designed", "document": document}]}]});
    let applied = apply_text(
        &stack.store,
        &file.to_string(),
        Path::new("."),
        &stack.target_policy(),
        stack.now(),
    )
    .await;
    let mut applied = applied.unwrap();
    fetch_pictures(&config, &stack.store, &mut applied)
        .await
        .unwrap();
    let applied = serde_json::to_value(&applied).unwrap();
    let sentence = applied["teams"][0]["designs"][0]["unusable_pictures"][0]
        .as_str()
        .unwrap();
    assert!(
        sentence.starts_with("the picture https://127.0.0.1:1/logo.png cannot be used"),
        "{sentence}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_recipients_pictures_are_deleted_some_months_later_and_those_of_designs_stay() {
    // Of its own: what other tests keep stays.
    let folder = std::env::temp_dir().join(format!("pillarbox-test-months-{}", std::process::id()));
    let settings = [
        ("PICTURES__MONTHS", "2"),
        ("STORAGE__FOLDER", folder.to_str().unwrap()),
    ];
    let (stack, host) = (with_photos(&settings).await, PictureHost::start().await);
    let link = host.link("/picture/a");
    stack.send_recipients(&[with_photo(1, &link)]).await;
    let (pictures, storage) = pictures_of(&stack);
    let name = stack.list_contents().await[0]["pictures"][&link]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    stack.clock.advance(TimeDelta::days(59));
    pictures.purge_files().await.unwrap();
    assert!(storage.has(&name).await.unwrap());
    stack.clock.advance(TimeDelta::days(34));
    assert_eq!(pictures.purge_files().await.unwrap(), 1);
    assert!(!storage.has(&name).await.unwrap());
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_step_prints_the_pictures_again() {
    let (stack, host) = (with_photos(&[]).await, PictureHost::start().await);
    let steps = json!({"steps": [{"design": "Designed", "postage": "standard"},
        {"design": "Designed", "postage": "standard", "delay_days": 3}]});
    stack.save_campaign(steps).await;
    let link = host.link("/picture/a");
    assert_eq!(
        stack
            .send_recipients(&[with_photo(1, &link)])
            .await
            .reasons(),
        ["mailed"]
    );
    stack.clock.advance(TimeDelta::days(3));
    stack.wait_until_paid(2).await;
    let contents = stack.list_contents().await;
    assert_eq!(contents[0], contents[1]);
    assert!(kept_file(&stack, &contents[1], &link).starts_with(b"\x89PNG"));
    assert_eq!(host.count_requests("/picture/a"), 2);
    stack.assert_consistent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_gets_the_same_bytes_warnings_included() {
    let (stack, host) = (with_photos(&[]).await, PictureHost::start().await);
    let send = [
        with_photo(1, &host.link("/text")),
        with_photo(2, &host.link("/picture/a")),
    ];
    let first = stack.send_recipients(&send).await;
    assert_eq!(warnings(&first.json()), ["variable_image_blank", ""]);
    assert_eq!(stack.send_recipients(&send).await.text, first.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_designs_own_pictures_come_over_https_from_a_host_with_a_certificate_that_is_trusted() {
    let stack = TestStack::with_options(StackOptions {
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    let host = SecurePictureHost::start().await;
    let mut settings = stack.settings.clone();
    // The one certificate that this process trusts.
    settings.insert(
        "SSL_CERT_FILE".to_owned(),
        host.certificate.path().display().to_string(),
    );
    let _mailer = SpawnedProcess::start("mailer", &settings, None);
    let (logo, default, own) = (
        host.link("/picture/logo"),
        host.link("/jpeg/default"),
        host.link("/picture/own"),
    );
    let elements = [
        fixed_picture(&logo),
        variable_picture(default.as_str().into()),
    ];
    stack
        .apply_design(postcard_design(&elements), json!({}))
        .await;
    let send = [
        with_photo(1, &own),
        with_photo(2, &host.link("/text")),
        build_recipient(3),
    ];
    let answered = tokio::sync::Mutex::new(None);
    wait_until("the mailer answers", async || {
        let answer = stack.send_recipients(&send).await;
        let is_answered = answer.status == 200;
        *answered.lock().await = Some(answer);
        is_answered
    })
    .await;
    let answer = answered.into_inner().unwrap().json();
    assert_eq!(
        warnings(&answer),
        ["", "variable_image_fallback", "variable_image_fallback"]
    );
    let contents = stack.list_contents().await;
    for (content, variable) in contents.iter().zip([&own, &default, &default]) {
        let kept: Vec<&String> = content["pictures"].as_object().unwrap().keys().collect();
        assert!(
            kept.len() == 2 && kept.contains(&&logo) && kept.contains(&variable),
            "{kept:?}"
        );
    }
    // Whoever does not trust the certificate does not get the picture.
    let other = SecurePictureHost::start().await;
    let answer = stack
        .send_recipients(&[with_photo(4, &other.link("/picture/a"))])
        .await
        .json();
    let detail = answer["results"][0]["warnings"][0]["detail"]
        .as_str()
        .unwrap();
    assert!(detail.contains("no valid certificate"), "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_pictures_are_fetched() {
    let settings = vec![("MAILER__LEASE_MS", "1500".to_owned())];
    let stack = TestStack::with_options(StackOptions {
        settings,
        mailers: 0,
        ..StackOptions::default()
    })
    .await;
    stack
        .apply_design(postcard_design(&[variable_picture(Value::Null)]), json!({}))
        .await;
    let host = PictureHost::start().await;
    let send = [
        with_photo(1, &host.link("/picture/a")),
        with_photo(2, &host.link("/text")),
    ];
    let mut doomed = SpawnedProcess::start("mailer", &stack.settings, Some("pictures.kept"));
    let answered = async {
        let answer = tokio::sync::Mutex::new(None);
        wait_until("the send is answered", async || {
            let got = stack.send_recipients(&send).await;
            let is_answered = got.status == 200;
            *answer.lock().await = Some(got);
            is_answered
        })
        .await;
        answer.into_inner().unwrap()
    };
    let replaced = async {
        let doomed = tokio::sync::Mutex::new(&mut doomed);
        wait_until("the mailer dies when it has kept a picture", async || {
            doomed.lock().await.has_ended()
        })
        .await;
        SpawnedProcess::start("mailer", &stack.settings, None)
    };
    let (answer, _second) = tokio::join!(answered, replaced);
    assert_eq!(warnings(&answer.json()), ["", "variable_image_blank"]);
    let contents = stack.list_contents().await;
    assert_eq!(contents.len(), 2);
    assert!(kept_file(&stack, &contents[0], &host.link("/picture/a")).starts_with(b"\x89PNG"));
    stack.assert_consistent().await;
}
