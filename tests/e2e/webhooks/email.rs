//! The e-mails to a team go out over SMTP.

use pillarbox_tests::{
    EndpointReaction, SmtpSecurity, SmtpServer, SpawnedProcess, StackOptions, TestStack,
    build_recipient, list_codes, wait_until, with_qr_codes,
};

/// A team that is to be written to, and the dispatcher that does it over this server.
async fn warned_over(server: &SmtpServer, url: &str) -> (TestStack, SpawnedProcess) {
    let settings = vec![
        ("EMAIL__SMTP_URL", url.to_owned()),
        ("EMAIL__PAUSE_MS", "50".to_owned()),
        ("DISPATCHER__WARN_AFTER", "1".to_owned()),
    ];
    let (stack, sink) = with_qr_codes(StackOptions {
        settings,
        ..StackOptions::default()
    })
    .await;
    sink.set_default(Some(EndpointReaction::Answer(500, String::new())));
    stack.send_recipients(&[build_recipient(1)]).await;
    let code = list_codes(&stack).await.remove(0);
    assert_eq!(stack.scan_code(&code).await.status, 302);
    let mut settings = stack.settings.clone();
    // The one certificate that this process trusts.
    settings.insert(
        "SSL_CERT_FILE".to_owned(),
        server.certificate.display().to_string(),
    );
    (stack, SpawnedProcess::start("dispatcher", &settings, None))
}

async fn until_sent(stack: &TestStack) {
    wait_until("the e-mail is sent", async || {
        stack
            .query_count("SELECT count(*) FROM emails WHERE sent_at IS NOT NULL")
            .await
            == 1
    })
    .await;
}

async fn until_attempts(stack: &TestStack, attempts: i64) {
    wait_until("it is tried again", async || {
        stack
            .query_count("SELECT coalesce(max(attempts), 0)::bigint FROM emails")
            .await
            >= attempts
    })
    .await;
}

async fn sends_over(security: SmtpSecurity) {
    let server = SmtpServer::start(security).await;
    let (stack, _dispatcher) = warned_over(&server, &server.url).await;
    until_sent(&stack).await;
    let mailed = server.received_emails();
    assert_eq!(mailed.len(), 1);
    assert_eq!(mailed[0].recipients, ["owner@example.com"]);
    let text = &mailed[0].text;
    for line in [
        "To: owner@example.com",
        "Subject: A webhook endpoint is failing",
        "answered with 500",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_email_goes_out_over_starttls_with_a_password() {
    sends_over(SmtpSecurity::StartTls).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_email_goes_out_over_implicit_tls_with_a_password() {
    sends_over(SmtpSecurity::Implicit).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_email_that_the_server_refuses_for_now_is_sent_again_once() {
    let server = SmtpServer::start(SmtpSecurity::StartTls).await;
    server.refuse_next(2);
    let (stack, _dispatcher) = warned_over(&server, &server.url).await;
    until_sent(&stack).await;
    assert_eq!(
        (server.refusals_left(), server.received_emails().len()),
        (0, 1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_password_is_told_to_a_server_without_tls_or_with_a_strange_certificate() {
    let without_tls = SmtpServer::start(SmtpSecurity::None).await;
    let (stack, _dispatcher) = warned_over(&without_tls, &without_tls.url).await;
    until_attempts(&stack, 2).await;
    let (trusted, strange) = (
        SmtpServer::start(SmtpSecurity::StartTls).await,
        SmtpServer::start(SmtpSecurity::StartTls).await,
    );
    let (stack, _other_dispatcher) = warned_over(&trusted, &strange.url).await;
    until_attempts(&stack, 2).await;
    for server in [without_tls, strange] {
        assert_eq!(
            (server.count_passwords(), server.received_emails()),
            (0, Vec::new())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_without_tls_is_refused_when_the_process_starts() {
    let server = SmtpServer::start(SmtpSecurity::None).await;
    let in_the_clear = server.url.replace("?tls=required", "");
    let (_stack, mut dispatcher) = warned_over(&server, &in_the_clear).await;
    assert!(
        !tokio::task::block_in_place(|| dispatcher.wait()),
        "it does not start"
    );
    assert_eq!(server.count_passwords(), 0);
}
