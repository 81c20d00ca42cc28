use chrono::TimeDelta;
use model::id::ChargeId;
use model::mailpiece_state::{MailpiecePrinting, WithheldMailpiece};
use proptest::prelude::*;
use proptest::sample::select;
use store::{MailpieceProgress, MailpieceRun};
use uuid::Uuid;

use super::*;

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

/// At noon in New York.
fn noon(text: &str) -> DateTime<Utc> {
    format!("{text}T16:00:00Z").parse().unwrap()
}

fn mailpiece() -> FollowedMailpiece {
    FollowedMailpiece {
        mailpiece_id: Uuid::nil(),
        campaign_id: "PA-AAAAAA".to_owned(),
        step: 1,
        charge_id: ChargeId(Uuid::nil()),
        reference: None,
        first_name: String::new(),
        last_name: String::new(),
        line_1: String::new(),
        line_2: String::new(),
        city: String::new(),
        region: String::new(),
        zip: String::new(),
        plus4: None,
        design_id: Uuid::nil(),
        design_version: 1,
        product: String::new(),
        postage: "first_class".to_owned(),
        price_cents: 100,
        mail_by_date: day("2031-05-10"),
        print_after: None,
        created_at: noon("2031-05-07"),
        settled_at: Some(noon("2031-05-07")),
        withheld: None,
        campaign_held_at: None,
        has_print_problem: false,
        run: None,
        progress: None,
        queue_event: None,
    }
}

fn printed() -> FollowedMailpiece {
    FollowedMailpiece {
        run: Some(MailpieceRun {
            printing: MailpiecePrinting::Printed,
            claimed_at: noon("2031-05-08"),
            printed_at: Some(noon("2031-05-08") + TimeDelta::minutes(5)),
        }),
        ..mailpiece()
    }
}

fn in_the_mail(state: MailpieceState, reached: &str) -> FollowedMailpiece {
    FollowedMailpiece {
        progress: Some(MailpieceProgress {
            state,
            basis: MailpieceBasis::Scanned,
            reached_at: noon(reached),
            stalled_at: None,
        }),
        ..printed()
    }
}

fn scan(state: MailpieceState, at: &str) -> MailpieceEvent {
    MailpieceEvent {
        state,
        basis: MailpieceBasis::Scanned,
        source: "usps".to_owned(),
        occurred_at: noon(at),
        detail: "Austin TX".to_owned(),
    }
}

fn history_on(
    today: &str,
    mailpiece: &FollowedMailpiece,
    events: &[MailpieceEvent],
) -> Vec<HistoryEntry> {
    build_history(&KnownHistory {
        mailpiece,
        events,
        charge_kind: ChargeKind::Send,
        time_zone: chrono_tz::America::New_York,
        now: noon(today),
    })
}

/// State, basis and day of each entry.
fn lines(history: &[HistoryEntry]) -> Vec<String> {
    let on = |entry: &HistoryEntry| entry.expected_on.or(entry.at.map(|at| at.date_naive()));
    history
        .iter()
        .map(|entry| {
            let basis = entry.basis.as_str();
            format!("{} {basis} {}", entry.state, on(entry).unwrap())
        })
        .collect()
}

#[test]
fn what_is_queued_is_expected_by_its_date_or_when_its_time_has_come() {
    let told = history_on("2031-05-07", &mailpiece(), &[]);
    let expected = [
        "queued reported 2031-05-07",
        "entered estimated 2031-05-10",
        "delivered estimated 2031-05-15",
    ];
    assert_eq!(lines(&told), expected);
    assert_eq!(
        (told[0].source.as_str(), told[0].expected_on),
        ("api", None)
    );
    assert_eq!((told[1].at, told[1].source.as_str()), (None, "system"));
    let late = history_on("2031-05-20", &mailpiece(), &[]);
    assert_eq!(lines(&late)[1], "entered estimated 2031-05-20");
    let scheduled = FollowedMailpiece {
        print_after: Some(noon("2031-06-01")),
        ..mailpiece()
    };
    let scheduled = history_on("2031-05-07", &scheduled, &[]);
    assert_eq!(lines(&scheduled)[1], "entered estimated 2031-06-01");
}

#[test]
fn what_is_printed_is_told_by_its_run_and_its_date_stays_an_estimate() {
    let told = history_on("2031-05-20", &printed(), &[]);
    let expected = [
        "queued reported 2031-05-07",
        "printing reported 2031-05-08",
        "printed reported 2031-05-08",
        "entered estimated 2031-05-10",
        "delivered estimated 2031-05-15",
    ];
    assert_eq!(lines(&told), expected);
}

#[test]
fn standard_mail_takes_longer() {
    let standard = FollowedMailpiece {
        postage: "standard".to_owned(),
        ..printed()
    };
    let told = history_on("2031-05-09", &standard, &[]);
    assert_eq!(lines(&told)[4], "delivered estimated 2031-05-20");
}

#[test]
fn what_the_post_saw_is_no_estimate_any_more() {
    let events = [
        scan(MailpieceState::Entered, "2031-05-11"),
        scan(MailpieceState::InTransit, "2031-05-12"),
    ];
    let moving = in_the_mail(MailpieceState::InTransit, "2031-05-12");
    let told = history_on("2031-05-12", &moving, &events);
    let expected = [
        "entered scanned 2031-05-11",
        "in_transit scanned 2031-05-12",
        "delivered estimated 2031-05-16",
    ];
    assert_eq!(lines(&told)[3..], expected);
    assert_eq!(told[3].detail, "Austin TX");
    let out = in_the_mail(MailpieceState::OutForDelivery, "2031-05-14");
    let told = history_on("2031-05-14", &out, &[]);
    assert_eq!(told.last().unwrap().expected_on, Some(day("2031-05-14")));
}

#[test]
fn nothing_is_expected_of_what_is_over_stopped_or_lost() {
    let has_estimate = |mailpiece: &FollowedMailpiece| {
        history_on("2031-05-12", mailpiece, &[])
            .iter()
            .any(|entry| entry.basis == MailpieceBasis::Estimated)
    };
    let cancelled = FollowedMailpiece {
        withheld: Some(WithheldMailpiece::Cancelled),
        ..mailpiece()
    };
    let held = FollowedMailpiece {
        campaign_held_at: Some(noon("2031-05-01")),
        ..mailpiece()
    };
    let mut stalled = in_the_mail(MailpieceState::Entered, "2031-05-11");
    stalled.progress.as_mut().unwrap().stalled_at = Some(noon("2031-05-14"));
    for over in [
        cancelled,
        held,
        stalled,
        in_the_mail(MailpieceState::Delivered, "2031-05-12"),
        in_the_mail(MailpieceState::Returned, "2031-05-12"),
    ] {
        assert!(!has_estimate(&over), "{over:?}");
    }
}

#[test]
fn a_campaign_that_is_held_holds_from_the_payment_on() {
    let held = FollowedMailpiece {
        campaign_held_at: Some(noon("2031-05-01")),
        ..mailpiece()
    };
    let told = history_on("2031-05-12", &held, &[]);
    assert_eq!(
        lines(&told),
        ["queued reported 2031-05-07", "held reported 2031-05-07"]
    );
    assert_eq!(told[1].detail, "Its campaign is held.");
}

#[test]
fn the_state_outlives_its_events() {
    let delivered = in_the_mail(MailpieceState::Delivered, "2031-05-13");
    let told = history_on("2033-01-01", &delivered, &[]);
    assert_eq!(lines(&told)[3..], ["delivered scanned 2031-05-13"]);
    assert_eq!(told[3].source, "usps");
}

proptest! {
    #[test]
    fn each_entry_has_a_moment_or_an_expected_day_and_they_are_in_order(
        states in prop::collection::vec((select(MailpieceState::ALL.to_vec()), 0..900_i64), 0..20),
        progress in prop::option::of(select(MailpieceState::ALL.to_vec())), is_printed in any::<bool>(),
    ) {
        let events: Vec<MailpieceEvent> = states
            .iter()
            .map(|(state, hours)| MailpieceEvent {
                occurred_at: noon("2031-05-01") + TimeDelta::hours(*hours),
                ..scan(*state, "2031-05-01")
            })
            .collect();
        let mut known = match progress.filter(|state| state.is_postal()) {
            Some(state) => in_the_mail(state, "2031-05-12"),
            None => mailpiece(),
        };
        known.run = printed().run.filter(|_| is_printed);
        let told = history_on("2031-05-12", &known, &events);
        prop_assert!(told.len() >= events.len());
        for entry in &told {
            let is_estimate = entry.basis == MailpieceBasis::Estimated;
            prop_assert_eq!((entry.at.is_none(), entry.expected_on.is_some()), (is_estimate, is_estimate));
        }
        let known: Vec<_> = told.iter().filter_map(|entry| entry.at).collect();
        prop_assert!(known.is_sorted());
        prop_assert!(told.is_sorted_by_key(|entry| entry.expected_on));
    }
}
