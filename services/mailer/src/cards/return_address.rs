//! Which return address prints: the design's with a recipient's values when that address is real, else its fallback.

use std::collections::{HashMap, HashSet};

use address::{AddressInput, Verdict, Verified, unverified_id};
use audience::fold_name;
use chrono::{NaiveDate, TimeDelta};
use contract::id::TeamId;
use contract::send::ReturnAddressReason;
use design::{PostalAddress, ReturnAddress};
use store::ReturnLines;
use uuid::Uuid;
use verification::VerifyError;

use super::Values;
use crate::Mailer;

/// The return address of a card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Its lines as they print; none for a design without one.
    pub(crate) lines: Vec<String>,
    /// Why the fallback prints, when it does.
    pub(crate) reason: Option<ReturnAddressReason>,
}

/// An address with somebody's values in it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rendered {
    name: String,
    address_1: String,
    address_2: String,
    city: String,
    state: String,
    zip: String,
}

impl Rendered {
    /// `None` when a field is empty that has no default.
    fn of(address: &PostalAddress, values: &Values) -> Option<Self> {
        let mut is_whole = true;
        let mut text = |template: &design::Template| {
            let names: HashMap<&str, String> =
                template.fields().map(|field| (field, fold_name(field))).collect();
            let value = |name: &str| values.get(names.get(name)?).map(String::as_str);
            let rendered = template.render(value);
            is_whole &= rendered.empty_fields.is_empty();
            rendered.text.trim().to_owned()
        };
        let rendered = Self {
            name: text(&address.name),
            address_1: text(&address.address_1),
            address_2: address.address_2.as_ref().map(&mut text).unwrap_or_default(),
            city: text(&address.city),
            state: text(&address.state),
            zip: text(&address.zip),
        };
        is_whole.then_some(rendered)
    }

    fn input(&self) -> AddressInput<'_> {
        AddressInput {
            address_1: &self.address_1,
            address_2: &self.address_2,
            city: &self.city,
            state: &self.state,
            zip: &self.zip,
        }
    }

    fn id(&self) -> Uuid {
        unverified_id(self.input()).as_uuid()
    }

    /// As it was written.
    fn lines(self) -> Vec<String> {
        let last = format!("{}, {} {}", self.city, self.state, self.zip);
        let lines = [self.name, self.address_1, self.address_2, last];
        lines.into_iter().filter(|line| !line.is_empty()).collect()
    }
}

/// The lines of a verified address, without a name.
fn verified_lines(verified: &Verified) -> Vec<String> {
    let Verified { line1, line2, city, state, zip, plus4, .. } = verified;
    let plus4 = plus4.as_ref().map(|plus4| format!("-{plus4}")).unwrap_or_default();
    let last = format!("{city}, {state} {zip}{plus4}");
    [line2, line1, &last].into_iter().filter(|line| !line.is_empty()).cloned().collect()
}

/// Chooses a return address for each of these recipients, who are given by their values. An address without fields is
/// the owner's own and prints as it was written.
///
/// # Errors
/// [`VerifyError`] when addresses cannot be verified at the moment.
pub(super) async fn choose(
    mailer: &Mailer,
    (team_id, day): (TeamId, NaiveDate),
    design: Option<&ReturnAddress>,
    people: &[Values],
) -> Result<Vec<Chosen>, VerifyError> {
    let Some(ReturnAddress { address, fallback }) = design else {
        return Ok(vec![Chosen::default(); people.len()]);
    };
    let nothing = Values::new();
    let Some(fallback) = fallback else {
        let lines = Rendered::of(address, &nothing).map(Rendered::lines).unwrap_or_default();
        return Ok(vec![Chosen { lines, reason: None }; people.len()]);
    };
    let fallback = Rendered::of(fallback, &nothing).map(Rendered::lines).unwrap_or_default();
    let rendered: Vec<Option<Rendered>> =
        tokio::task::block_in_place(|| people.iter().map(|values| Rendered::of(address, values)).collect());
    let known = verify(mailer, (team_id, day), rendered.iter().flatten()).await?;
    let instead = |reason| Chosen { lines: fallback.clone(), reason: Some(reason) };
    let chosen = rendered.into_iter().map(|one| {
        let Some(one) = one else { return instead(ReturnAddressReason::MissingTokenValue) };
        match known.get(&one.id()) {
            Some(Some(lines)) => {
                let name = std::iter::once(one.name).filter(|name| !name.is_empty());
                Chosen { lines: name.chain(lines.iter().cloned()).collect(), reason: None }
            }
            Some(None) => instead(ReturnAddressReason::UnverifiedAddress),
            None => instead(ReturnAddressReason::VerificationLimitReached),
        }
    });
    Ok(chosen.collect())
}

/// What is known of these addresses, by their ids, after as many of the new ones have been verified as the limits
/// allow, in the order of their first appearance.
async fn verify<'a>(
    mailer: &Mailer,
    (team_id, day): (TeamId, NaiveDate),
    addresses: impl Iterator<Item = &'a Rendered>,
) -> Result<HashMap<Uuid, ReturnLines>, VerifyError> {
    let (store, settings) = (&mailer.process.store, &mailer.process.config.return_addresses);
    let now = mailer.process.clock.now();
    let mut seen = HashSet::new();
    let distinct: Vec<(Uuid, &Rendered)> =
        addresses.map(|one| (one.id(), one)).filter(|(id, _)| seen.insert(*id)).collect();
    if distinct.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<Uuid> = distinct.iter().map(|(id, _)| *id).collect();
    let mut known = store.return_address_find(team_id, &ids, now).await?;
    let mut new: Vec<(Uuid, &Rendered)> =
        distinct.into_iter().filter(|(id, _)| !known.contains_key(id)).collect();
    new.truncate(settings.per_request);
    new.truncate(store.return_address_admit(team_id, day, new.len(), settings.per_day).await?);
    if new.is_empty() {
        return Ok(known);
    }
    let inputs: Vec<AddressInput<'_>> = new.iter().map(|(_, one)| one.input()).collect();
    let verdicts = mailer.verifier.verify(&inputs, None).await?;
    let lines = verdicts.iter().map(|verdict| match verdict {
        Verdict::Deliverable(verified) => Some(verified_lines(verified)),
        Verdict::Undeliverable(_) => None,
    });
    let verified: Vec<(Uuid, ReturnLines)> = new.iter().map(|(id, _)| *id).zip(lines).collect();
    let expires_at = now + TimeDelta::days(settings.answer_days);
    store.return_address_save(team_id, &verified, expires_at).await?;
    known.extend(verified);
    Ok(known)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn address(address: &serde_json::Value) -> PostalAddress {
        serde_json::from_value(address.clone()).unwrap()
    }

    fn values(values: &[(&str, &str)]) -> Values {
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn fields_are_filled_in_whatever_their_case_and_an_empty_one_without_a_default_is_missing() {
        let template = address(&json!({"name": "{{Agent Name|Your agent}}", "address_1": "{{AGENT_STREET}}",
            "address_2": "{{unit|}}", "city": "Austin", "state": "TX", "zip": "{{agent_zip}}"}));
        let whole = values(&[("agent_street", " 1 Main St "), ("agent_zip", "78701")]);
        let rendered = Rendered::of(&template, &whole).unwrap();
        assert_eq!(rendered.clone().lines(), ["Your agent", "1 Main St", "Austin, TX 78701"]);
        let lower = values(&[("agent_street", "1 MAIN ST"), ("agent_zip", "78701"), ("agent name", "Ann")]);
        assert_eq!(Rendered::of(&template, &lower).unwrap().id(), rendered.id(), "the name is not verified");
        assert_eq!(Rendered::of(&template, &values(&[("agent_street", "1 Main St")])), None);
    }
}
