use proptest::prelude::*;

use super::*;

fn build_home(number: u128) -> NeighborhoodHome {
    NeighborhoodHome {
        address_id: Uuid::from_u128(number),
        line_1: format!("{number} Main St"),
        city: "Austin".to_owned(),
        state: "TX".to_owned(),
        zip: "78701".to_owned(),
        plus4: None,
        place: (30.0, -97.0),
    }
}

/// A center that stands nowhere near a home, so that its address is none of theirs.
fn build_center(number: usize) -> NeighborhoodCenter {
    NeighborhoodCenter {
        address_id: Uuid::from_u128(1_000_000 + number as u128),
        refusal: None,
        place: None,
    }
}

/// Centers with these homes around them, nothing judged against any home but those in `do_not_mail`.
fn build_neighborhoods(centers: &[Vec<u128>], do_not_mail: &[u128]) -> NeighborhoodHomes {
    let (mut all, mut known) = (NeighborhoodHomes::default(), HashMap::new());
    for (number, homes) in centers.iter().enumerate() {
        let homes: Vec<NeighborhoodHome> = homes.iter().copied().map(build_home).collect();
        all.add_center(
            &build_center(number),
            store::Neighborhood {
                found: homes.len(),
                homes,
            },
            &mut known,
        );
    }
    let listed: Vec<Uuid> = do_not_mail.iter().copied().map(Uuid::from_u128).collect();
    all.candidates = all
        .homes
        .iter()
        .map(|home| MailingCandidate {
            address_id: home.address_id,
            written_id: home.address_id,
            before_duplicates: listed
                .contains(&home.address_id)
                .then_some(NotMailedReason::DoNotMail),
            after_duplicates: None,
        })
        .collect();
    all
}

fn summarize_mailings(mailings: &[CenterMailing]) -> Vec<(MailingDecision, usize, usize)> {
    mailings
        .iter()
        .map(|mailing| (mailing.decision, mailing.found, mailing.mailed_count()))
        .collect()
}

#[test]
fn homes_are_mailed_nearest_first_while_the_budget_lasts_and_once_each() {
    let all = build_neighborhoods(&[vec![1, 2, 3], vec![2, 3, 4, 5], vec![1, 2]], &[5]);
    let mailings = all.decide_centers(
        &RecipientListings::default(),
        &HashSet::from([Uuid::from_u128(2)]),
        Some(79 * 3),
        79,
    );
    let copy = MailingDecision::Copy;
    assert_eq!(
        summarize_mailings(&mailings),
        [
            (MailingDecision::Mail, 3, 2),
            (MailingDecision::Mail, 4, 1),
            (copy, 2, 0)
        ]
    );
    let (links, rules) = (QrLinks::default(), AudienceRules::default());
    let print = HomeLinkContext {
        links: &links,
        rules: &rules,
        today: NaiveDate::default(),
    };
    let rows = all.mailpiece_rows(&mailings, (10..).map(Uuid::from_u128), print);
    let sent: Vec<_> = rows
        .iter()
        .map(|row| (row.line_1, row.center_entry_id.unwrap().as_u128()))
        .collect();
    assert_eq!(
        sent,
        [("1 Main St", 10), ("3 Main St", 10), ("4 Main St", 11)]
    );
}

#[test]
fn a_center_without_a_card_has_the_reason_of_the_home_that_came_furthest() {
    let all = build_neighborhoods(&[vec![1], vec![2], vec![1, 2], vec![3]], &[1]);
    let mailings = all.decide_centers(
        &RecipientListings::default(),
        &HashSet::from([Uuid::from_u128(2)]),
        Some(10),
        79,
    );
    let reasons: Vec<_> = mailings.iter().map(|mailing| mailing.decision).collect();
    use MailingDecision::Refuse;
    use NotMailedReason::{BudgetExceeded, DoNotMail, DuplicateRecent};
    assert_eq!(
        reasons,
        [
            Refuse(DoNotMail),
            Refuse(DuplicateRecent),
            Refuse(DuplicateRecent),
            Refuse(BudgetExceeded)
        ]
    );
}

#[test]
fn who_was_removed_or_listed_since_gets_no_card_and_a_center_takes_its_homes_with_it() {
    let all = build_neighborhoods(&[vec![1, 2], vec![2, 3, 4, 5]], &[]);
    let facts = RecipientListings {
        removed: HashSet::from([build_center(0).address_id, Uuid::from_u128(3)]),
        do_not_mail: HashSet::from([build_center(1).address_id, Uuid::from_u128(4)]),
        ..RecipientListings::default()
    };
    let mailings = all.decide_centers(&facts, &HashSet::new(), Some(79 * 2), 79);
    let removed = MailingDecision::Refuse(NotMailedReason::RemovedBySender);
    assert_eq!(
        summarize_mailings(&mailings),
        [(removed, 2, 0), (MailingDecision::Mail, 4, 2)]
    );
    assert_eq!(
        mailings[1]
            .mailed
            .iter()
            .map(|home| all.homes[*home].address_id.as_u128())
            .collect::<Vec<_>>(),
        [2, 5]
    );
}

#[test]
fn a_center_without_homes_and_one_past_the_capacity_have_their_reasons() {
    let many: Vec<u128> = (1..=9_000).collect();
    let more: Vec<u128> = (5_000..=11_000).collect();
    let few: Vec<u128> = (9_001..=10_000).collect();
    let all = build_neighborhoods(&[many, Vec::new(), more, few], &[]);
    let mailings = all.decide_centers(&RecipientListings::default(), &HashSet::new(), None, 79);
    use MailingDecision::{Mail, Refuse};
    assert_eq!(
        summarize_mailings(&mailings),
        [
            (Mail, 9_000, 9_000),
            (Refuse(NotMailedReason::NoHomesFound), 0, 0),
            (Refuse(NotMailedReason::RequestCapacityReached), 6_001, 0),
            (Mail, 1_000, 1_000),
        ]
    );
}

#[test]
fn centers_at_a_time_have_about_the_homes_that_a_request_may_mail() {
    let settings = |homes_per_center| NeighborhoodSettings {
        radius_metres: 400,
        homes_per_center,
    };
    assert_eq!(
        [1, 500, 10_000].map(|homes| centers_at_a_time(settings(homes))),
        [10_000, 20, 1]
    );
}

proptest! {
    #[test]
    fn no_home_is_mailed_twice_and_neither_budget_nor_capacity_is_passed(
        centers in proptest::collection::vec(proptest::collection::vec(0_u128..40, 0..15), 0..12),
        mailed in proptest::collection::hash_set(0_u128..40, 0..10),
        budget in proptest::option::of(0_i64..3000),
    ) {
        let all = build_neighborhoods(&centers, &[]);
        let mailed: HashSet<_> = mailed.into_iter().map(Uuid::from_u128).collect();
        let mailings = all.decide_centers(&RecipientListings::default(), &mailed, budget, 79);
        let (links, rules) = (QrLinks::default(), AudienceRules::default());
        let print = HomeLinkContext { links: &links, rules: &rules, today: NaiveDate::default() };
        let rows = all.mailpiece_rows(&mailings, std::iter::repeat(Uuid::nil()), print);
        let sent: Vec<_> = rows.iter().map(|row| row.address_id).collect();
        let distinct: HashSet<_> = sent.iter().copied().collect();
        prop_assert_eq!(distinct.len(), sent.len());
        prop_assert!(distinct.is_disjoint(&mailed));
        prop_assert!(budget.is_none_or(|budget| i64::try_from(sent.len()).unwrap() * 79 <= budget));
        for (mailing, homes) in mailings.iter().zip(&centers) {
            prop_assert_eq!(mailing.decision == MailingDecision::Mail, mailing.mailed_count() > 0);
            prop_assert_eq!(mailing.found, homes.len());
        }
    }
}
