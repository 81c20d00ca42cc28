//! What was sent, in the terms of the address book.

use std::borrow::Cow;

use address::AddressInput;
use audience::column::cut_value;
use audience::{Birthday, BuiltInColumn, ColumnType, value};
use contract::send::{SendRequest, SentRecipient};
use uuid::Uuid;

use crate::fields::{FieldTarget, RequestColumns};

/// Longest value of a built-in column that is kept, in characters: as for custom values.
fn truncate_value(value: &str) -> &str {
    cut_value(value)
}

/// A recipient with its values sorted into columns.
#[derive(Debug, Clone)]
pub(crate) struct PreparedRecipient<'a> {
    pub(crate) reference: Option<&'a str>,
    built_in: [&'a str; BuiltInColumn::ALL.len()],
    /// Position of the column in [`RequestColumns::columns`], and the value.
    pub(crate) custom: Vec<(usize, &'a str)>,
    /// Fields of which only the beginning is kept, as they were sent.
    pub(crate) cut: Vec<&'a str>,
}

/// How much of a birthday cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnreadBirthday {
    /// Nothing of it can.
    Whole,
    /// The century of its year is not known.
    Year,
}

/// All recipients of a request, and what the summary counts about their values.
pub(crate) struct PreparedRequest<'a> {
    pub(crate) recipients: Vec<PreparedRecipient<'a>>,
    pub(crate) fields: RequestColumns,
    pub(crate) unparseable_typed_values: usize,
    pub(crate) computed_fields_ignored: usize,
    pub(crate) long_names_ignored: usize,
    pub(crate) birthdays_not_read: usize,
}

impl<'a> PreparedRecipient<'a> {
    /// The value of a built-in column; empty when absent.
    pub(crate) fn value(&self, column: BuiltInColumn) -> &'a str {
        self.built_in[column as usize]
    }

    /// The address as sent.
    pub(crate) fn address(&self) -> AddressInput<'a> {
        AddressInput {
            address_1: self.value(BuiltInColumn::Address1),
            address_2: self.value(BuiltInColumn::Address2),
            city: self.value(BuiltInColumn::City),
            state: self.value(BuiltInColumn::State),
            zip: self.value(BuiltInColumn::Zip),
        }
    }

    /// What cannot be read of the birthday.
    pub(crate) fn unread_birthday(&self) -> Option<UnreadBirthday> {
        let sent = self.value(BuiltInColumn::Birthday);
        if sent.is_empty() {
            return None;
        }
        match Birthday::parse_unambiguous(sent) {
            Some(read) if read.has_unread_year => Some(UnreadBirthday::Year),
            Some(_) => None,
            None => Some(UnreadBirthday::Whole),
        }
    }

    /// Month, day and perhaps year of the birthday, when it can be read.
    pub(crate) fn parse_birthday(&self) -> Option<(i16, i16, Option<i16>)> {
        let birthday = Birthday::parse(self.value(BuiltInColumn::Birthday))?;
        let small = |number: u32| i16::try_from(number).ok();
        Some((
            small(birthday.month())?,
            small(birthday.day())?,
            birthday.year().and_then(|year| year.try_into().ok()),
        ))
    }
}

/// Sorts the values of a request into columns.
pub(crate) fn prepare_request<'a>(
    request: &'a SendRequest<'_>,
    fields: RequestColumns,
) -> PreparedRequest<'a> {
    let mut preparation = PreparedRequest {
        recipients: Vec::with_capacity(request.recipients.len()),
        fields,
        unparseable_typed_values: 0,
        computed_fields_ignored: 0,
        long_names_ignored: request.count_long_names(),
        birthdays_not_read: 0,
    };
    for recipient in &request.recipients {
        let prepared = preparation.prepare_recipient(recipient);
        preparation.birthdays_not_read += usize::from(prepared.unread_birthday().is_some());
        preparation.recipients.push(prepared);
    }
    preparation
}

impl<'a> PreparedRequest<'a> {
    fn prepare_recipient(&mut self, recipient: &'a SentRecipient<'_>) -> PreparedRecipient<'a> {
        let mut prepared = PreparedRecipient {
            reference: recipient.reference.as_deref(),
            built_in: [""; BuiltInColumn::ALL.len()],
            custom: Vec::new(),
            cut: Vec::new(),
        };
        for (name, value) in &recipient.fields {
            let sent = Cow::as_ref(value);
            let value = truncate_value(sent);
            let slot = self.fields.resolve_target(name);
            if value.len() < sent.len()
                && matches!(slot, FieldTarget::BuiltIn(_) | FieldTarget::Custom(_))
            {
                prepared.cut.push(name);
            }
            match slot {
                FieldTarget::BuiltIn(column) => prepared.built_in[column as usize] = value,
                FieldTarget::Custom(at) => {
                    let column_type = self.fields.columns()[at].column_type;
                    if column_type != ColumnType::Text && !value::is_valid(column_type, value) {
                        self.unparseable_typed_values += 1;
                    }
                    prepared.custom.push((at, value));
                }
                FieldTarget::Computed => self.computed_fields_ignored += 1,
                FieldTarget::Dropped => {}
            }
        }
        prepared
    }
}

/// Bits of an entry's id that tell the names of one house apart.
const NAME_BITS: u32 = 48;

/// The id of an address-book entry: the house, then a hash over address and name, whatever its case. Entries so stand in
/// an index in the order of their addresses.
pub(crate) fn entry_id(address_id: Uuid, first_name: &str, last_name: &str) -> Uuid {
    let mut hasher = blake3::Hasher::new();
    hasher.update(address_id.as_bytes());
    hasher.update(first_name.to_lowercase().as_bytes());
    // No name holds it, so "Ann" "Abel" and "AnnA" "bel" stay apart.
    hasher.update(&[0]);
    hasher.update(last_name.to_lowercase().as_bytes());
    let hash = hasher.finalize();
    let bytes: [u8; 16] = std::array::from_fn(|index| hash.as_bytes()[index]);
    let house = address_id.as_u128() >> NAME_BITS << NAME_BITS;
    Uuid::from_u128(house | u128::from_be_bytes(bytes) & ((1 << NAME_BITS) - 1))
}

/// The id that stands for an address which could not be verified.
pub(crate) fn unverified_address_id(input: AddressInput<'_>) -> Uuid {
    address::unverified_address_id(input).as_uuid()
}

#[cfg(test)]
mod tests {
    use contract::send::parse_request;
    use store::{ColumnKind, ColumnSource, TeamColumn};

    use super::*;
    use crate::fields::ColumnLimits;

    fn build_request_columns() -> RequestColumns {
        let columns = vec![
            TeamColumn::new(
                "visits",
                ColumnType::Number,
                ColumnKind::Custom,
                ColumnSource::Owner,
            ),
            TeamColumn::new(
                "tier",
                ColumnType::Text,
                ColumnKind::Formula,
                ColumnSource::Owner,
            ),
        ];
        RequestColumns::new(
            columns,
            [].into_iter(),
            ColumnLimits {
                per_request: 10,
                per_team: 50,
            },
        )
    }

    #[test]
    fn values_are_sorted_counted_and_cut_at_600_characters() {
        let long = "é".repeat(601);
        let body = serde_json::json!({"recipients": [
            {"First_Name": "Ann", "birthday": "3/7", "visits": "many", "tier": "gold", "note": long},
            {"visits": "1,204", "TIER": "x"},
        ]})
        .to_string();
        let request = parse_request(body.as_bytes()).unwrap();
        let preparation = prepare_request(&request, build_request_columns());
        assert_eq!(
            (
                preparation.unparseable_typed_values,
                preparation.computed_fields_ignored
            ),
            (1, 2)
        );
        let first = &preparation.recipients[0];
        assert_eq!(first.value(BuiltInColumn::FirstName), "Ann");
        assert_eq!(first.parse_birthday(), Some((3, 7, None)));
        assert_eq!(
            (&*first.cut, preparation.recipients[1].cut.len()),
            (&["note"][..], 0)
        );
        let names: Vec<_> = preparation
            .fields
            .columns()
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        assert_eq!(names, ["visits", "tier", "note"]);
        let mut custom = first.custom.clone();
        custom.sort_unstable();
        assert_eq!(custom, [(0, "many"), (2, &*"é".repeat(600))]);
    }

    #[test]
    fn an_entry_stands_where_its_house_does() {
        let house = 0xabc_u128 << NAME_BITS;
        let entry = entry_id(Uuid::from_u128(house | 5), "Ann", "Abel").as_u128();
        assert_eq!(entry >> NAME_BITS, house >> NAME_BITS);
        assert_ne!(
            entry,
            entry_id(Uuid::from_u128(house | 6), "Ann", "Abel").as_u128()
        );
    }

    #[test]
    fn an_entry_is_the_address_and_the_name_whatever_its_case() {
        let address = Uuid::from_u128(7);
        assert_eq!(
            entry_id(address, "Ann", "ABEL"),
            entry_id(address, "ann", "Abel")
        );
        assert_ne!(
            entry_id(address, "Ann", "Abel"),
            entry_id(address, "AnnA", "bel")
        );
        assert_ne!(
            entry_id(address, "Ann", "Abel"),
            entry_id(Uuid::from_u128(8), "Ann", "Abel")
        );
    }
}
