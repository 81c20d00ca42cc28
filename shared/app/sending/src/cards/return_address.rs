//! Which return address prints: the design's with a recipient's values when that address is real, else its fallback.

use std::collections::{HashMap, HashSet};

use address::{AddressInput, AddressVerdict, VerifiedAddress, unverified_address_id};
use audience::fold_name;
use chrono::{NaiveDate, TimeDelta};
use contract::send::ReturnAddressReason;
use design::{FilledAddress, PostalAddress, PrintableDesign, Product, ReturnAddress, Typesetter};
use model::id::TeamId;
use store::ReturnLines;
use uuid::Uuid;
use verification::VerificationError;

use super::DesignValues;
use crate::MailerState;

/// The return address of a card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChosenReturnAddress {
    /// Its lines as they print; none for a design without one.
    pub(crate) lines: Vec<String>,
    /// Why the fallback prints, when it does.
    pub(crate) reason: Option<ReturnAddressReason>,
}

/// The address with a recipient's values; `None` when a field is empty that has no default.
fn fill_address(address: &PostalAddress, values: &DesignValues) -> Option<FilledAddress> {
    let names: HashMap<&str, String> = address
        .field_names()
        .map(|field| (field, fold_name(field)))
        .collect();
    let filled = address.render(|field| values.get(names.get(field)?).map(String::as_str));
    filled.is_whole.then_some(filled)
}

fn address_input(address: &FilledAddress) -> AddressInput<'_> {
    let FilledAddress {
        address_1,
        address_2,
        city,
        state,
        zip,
        ..
    } = address;
    AddressInput {
        address_1,
        address_2,
        city,
        state,
        zip,
    }
}

fn address_id(address: &FilledAddress) -> Uuid {
    unverified_address_id(address_input(address)).as_uuid()
}

/// Whether lines print in a product's zone, whole and with all of their characters. What is the same is looked at once.
struct FitCheck {
    product: Product,
    typesetter: Typesetter,
    known: HashMap<Vec<String>, bool>,
}

impl FitCheck {
    fn new(product: Product) -> Self {
        Self {
            product,
            typesetter: Typesetter::new(),
            known: HashMap::new(),
        }
    }

    fn fits(&mut self, lines: &[String]) -> bool {
        if let Some(known) = self.known.get(lines) {
            return *known;
        }
        let block = self.product.set_return_address(&mut self.typesetter, lines);
        let prints = block.fits && block.unsupported.is_empty();
        self.known.insert(lines.to_vec(), prints);
        prints
    }
}

/// The lines of a verified address, without a name.
fn verified_lines(verified: &VerifiedAddress) -> Vec<String> {
    let VerifiedAddress {
        line1,
        line2,
        city,
        state,
        zip,
        plus4,
        ..
    } = verified;
    let plus4 = plus4
        .as_ref()
        .map(|plus4| format!("-{plus4}"))
        .unwrap_or_default();
    let last = format!("{city}, {state} {zip}{plus4}");
    [line2, line1, &last]
        .into_iter()
        .filter(|line| !line.is_empty())
        .cloned()
        .collect()
}

/// Chooses a return address for each of these recipients, who are given by their values. An address without fields is
/// the owner's own and prints as it was written.
///
/// # Errors
/// [`VerificationError`] when addresses cannot be verified at the moment.
pub(super) async fn choose_return_addresses(
    mailer: &MailerState,
    (team_id, day): (TeamId, NaiveDate),
    document: &PrintableDesign,
    people: &[DesignValues],
) -> Result<Vec<ChosenReturnAddress>, VerificationError> {
    let Some(ReturnAddress { address, fallback }) = document.return_address() else {
        return Ok(vec![ChosenReturnAddress::default(); people.len()]);
    };
    let own = |address| {
        fill_address(address, &DesignValues::new())
            .map(FilledAddress::lines)
            .unwrap_or_default()
    };
    let Some(fallback) = fallback else {
        return Ok(vec![
            ChosenReturnAddress {
                lines: own(address),
                reason: None
            };
            people.len()
        ]);
    };
    let fallback = own(fallback);
    let filled: Vec<Option<FilledAddress>> = tokio::task::block_in_place(|| {
        people
            .iter()
            .map(|values| fill_address(address, values))
            .collect()
    });
    let known = verify_addresses(mailer, (team_id, day), filled.iter().flatten()).await?;
    let mut measured = FitCheck::new(document.product());
    let chosen = filled
        .into_iter()
        .map(|one| match printable_lines(one, &known, &mut measured) {
            Ok(lines) => ChosenReturnAddress {
                lines,
                reason: None,
            },
            Err(reason) => ChosenReturnAddress {
                lines: fallback.clone(),
                reason: Some(reason),
            },
        });
    Ok(tokio::task::block_in_place(|| chosen.collect()))
}

/// The lines of an address of which this is known, or why the fallback prints.
fn printable_lines(
    filled: Option<FilledAddress>,
    known: &HashMap<Uuid, ReturnLines>,
    measured: &mut FitCheck,
) -> Result<Vec<String>, ReturnAddressReason> {
    let filled = filled.ok_or(ReturnAddressReason::MissingTokenValue)?;
    match known.get(&address_id(&filled)) {
        Some(Some(verified)) => {
            let name = std::iter::once(filled.name).filter(|name| !name.is_empty());
            let lines: Vec<String> = name.chain(verified.iter().cloned()).collect();
            // A name that cannot print is none that the post office could verify.
            if measured.fits(&lines) {
                Ok(lines)
            } else {
                Err(ReturnAddressReason::UnverifiedAddress)
            }
        }
        Some(None) => Err(ReturnAddressReason::UnverifiedAddress),
        None => Err(ReturnAddressReason::VerificationLimitReached),
    }
}

/// What is known of these addresses, by their ids, after as many of the new ones have been verified as the limits
/// allow, in the order of their first appearance.
async fn verify_addresses<'a>(
    mailer: &MailerState,
    (team_id, day): (TeamId, NaiveDate),
    addresses: impl Iterator<Item = &'a FilledAddress>,
) -> Result<HashMap<Uuid, ReturnLines>, VerificationError> {
    let (store, settings) = (
        &mailer.process.store,
        &mailer.process.config.return_addresses,
    );
    let now = mailer.process.clock.now();
    let mut seen = HashSet::new();
    let distinct: Vec<(Uuid, &FilledAddress)> = addresses
        .map(|one| (address_id(one), one))
        .filter(|(id, _)| seen.insert(*id))
        .collect();
    if distinct.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<Uuid> = distinct.iter().map(|(id, _)| *id).collect();
    let mut known = store.find_return_addresses(team_id, &ids, now).await?;
    let mut new: Vec<(Uuid, &FilledAddress)> = distinct
        .into_iter()
        .filter(|(id, _)| !known.contains_key(id))
        .collect();
    new.truncate(settings.per_request);
    new.truncate(
        store
            .admit_return_addresses(team_id, day, new.len(), settings.per_day)
            .await?,
    );
    if new.is_empty() {
        return Ok(known);
    }
    let inputs: Vec<AddressInput<'_>> = new.iter().map(|(_, one)| address_input(one)).collect();
    let verdicts = mailer.verify_addresses(&inputs, None).await?;
    let lines = verdicts.iter().map(|verdict| match verdict {
        AddressVerdict::Deliverable(verified) => Some(verified_lines(verified)),
        AddressVerdict::Undeliverable(_) => None,
    });
    let verified: Vec<(Uuid, ReturnLines)> = new.iter().map(|(id, _)| *id).zip(lines).collect();
    let expires_at = now + TimeDelta::days(settings.answer_days);
    store
        .save_return_addresses(team_id, &verified, expires_at)
        .await?;
    known.extend(verified);
    Ok(known)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse_address(address: &serde_json::Value) -> PostalAddress {
        serde_json::from_value(address.clone()).unwrap()
    }

    fn build_values(values: &[(&str, &str)]) -> DesignValues {
        values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn fields_are_filled_in_whatever_their_case_and_an_empty_one_without_a_default_is_missing() {
        let template = parse_address(
            &json!({"name": "{{Agent Name|Your agent}}", "address_1": "{{AGENT_STREET}}",
            "address_2": "{{unit|}}", "city": "Austin", "state": "TX", "zip": "{{agent_zip}}"}),
        );
        let whole = build_values(&[("agent_street", " 1 Main\nSt "), ("agent_zip", "78701")]);
        let filled_in = fill_address(&template, &whole).unwrap();
        assert_eq!(
            filled_in.clone().lines(),
            ["Your agent", "1 Main St", "Austin, TX 78701"]
        );
        let lower = build_values(&[
            ("agent_street", "1 MAIN ST"),
            ("agent_zip", "78701"),
            ("agent name", "Ann"),
        ]);
        assert_eq!(
            address_id(&fill_address(&template, &lower).unwrap()),
            address_id(&filled_in),
            "the name is not verified"
        );
        assert_eq!(
            fill_address(&template, &build_values(&[("agent_street", "1 Main St")])),
            None
        );
    }

    #[test]
    fn an_address_that_cannot_print_whole_gives_way_to_the_fallback() {
        let mut measured = FitCheck::new(Product::Postcard4x6);
        let mut lines_of = |name: &str| {
            let filled = FilledAddress {
                name: name.to_owned(),
                is_whole: true,
                ..FilledAddress::default()
            };
            let known = HashMap::from([(address_id(&filled), Some(vec!["1 Main St".to_owned()]))]);
            printable_lines(Some(filled), &known, &mut measured)
        };
        assert_eq!(
            lines_of("Ann"),
            Ok(vec!["Ann".to_owned(), "1 Main St".to_owned()])
        );
        for name in ["N".repeat(300), "Ann 🎉".to_owned()] {
            assert_eq!(
                lines_of(&name),
                Err(ReturnAddressReason::UnverifiedAddress),
                "{name}"
            );
        }
    }
}
