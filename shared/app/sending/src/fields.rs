//! Which column of the address book does a field of a recipient fill?

use std::collections::HashMap;

use audience::{BuiltInColumn, ColumnType, fold_name};
use store::{ColumnKind, ColumnSource, TeamColumn};

/// Where a field's values go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldTarget {
    /// A built-in column.
    BuiltIn(BuiltInColumn),
    /// The custom column at this position of [`RequestColumns::columns`].
    Custom(usize),
    /// A formula or AI column: sent values are ignored and counted.
    Computed,
    /// No column, and no more may be made: the value is dropped.
    Dropped,
}

/// How many columns a request may make (contract: Limits).
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnLimits {
    /// In one request.
    pub(crate) per_request: usize,
    /// Made over the API, in a team.
    pub(crate) per_team: usize,
}

/// The columns of a team and those that a request makes, in the order of their first appearance.
pub(crate) struct RequestColumns {
    columns: Vec<TeamColumn>,
    stored: usize,
    /// New columns that may still be made.
    room: usize,
    types: HashMap<String, ColumnType>,
    by_key: HashMap<String, usize>,
    /// Slots by name as written: thousands of recipients repeat the same few names.
    by_name: HashMap<String, FieldTarget>,
}

impl RequestColumns {
    /// Starts from a team's stored columns. `types` are the request's `field_types`.
    pub(crate) fn new<'t>(
        stored: Vec<TeamColumn>,
        types: impl Iterator<Item = (&'t str, ColumnType)>,
        limits: ColumnLimits,
    ) -> Self {
        let made_over_api = stored
            .iter()
            .filter(|column| column.source == ColumnSource::Api)
            .count();
        Self {
            stored: stored.len(),
            room: limits
                .per_request
                .min(limits.per_team.saturating_sub(made_over_api)),
            types: types
                .map(|(name, column_type)| (fold_name(name), column_type))
                .collect(),
            by_key: stored
                .iter()
                .enumerate()
                .map(|(at, column)| (column.name_key.clone(), at))
                .collect(),
            by_name: HashMap::new(),
            columns: stored,
        }
    }

    /// The slot of a field; makes its column when it is new and there is room.
    pub(crate) fn resolve_target(&mut self, name: &str) -> FieldTarget {
        if let Some(slot) = self.by_name.get(name) {
            return *slot;
        }
        let slot = self.find_or_create(name);
        self.by_name.insert(name.to_owned(), slot);
        slot
    }

    fn find_or_create(&mut self, name: &str) -> FieldTarget {
        if let Some(built_in) = BuiltInColumn::from_name(name) {
            return FieldTarget::BuiltIn(built_in);
        }
        let key = fold_name(name);
        if let Some(at) = self.by_key.get(&key) {
            return match self.columns[*at].kind {
                ColumnKind::Custom => FieldTarget::Custom(*at),
                ColumnKind::Formula | ColumnKind::Ai => FieldTarget::Computed,
            };
        }
        if self.room == 0 {
            return FieldTarget::Dropped;
        }
        self.room -= 1;
        let column_type = self.types.get(&key).copied().unwrap_or(ColumnType::Text);
        self.columns.push(TeamColumn::new(
            name,
            column_type,
            ColumnKind::Custom,
            ColumnSource::Api,
        ));
        self.by_key.insert(key, self.columns.len() - 1);
        FieldTarget::Custom(self.columns.len() - 1)
    }

    /// All columns: the stored ones, then the new ones.
    pub(crate) fn columns(&self) -> &[TeamColumn] {
        &self.columns
    }

    /// The columns that the request makes.
    pub(crate) fn new_columns(&self) -> &[TeamColumn] {
        &self.columns[self.stored..]
    }
}

/// Whether a send brings the column of this folded name itself, so that stored values are never read for it: the name
/// and the address.
pub(crate) fn is_always_sent(name: &str) -> bool {
    use BuiltInColumn::{Address1, Address2, City, FirstName, LastName, State, Zip};
    matches!(
        BuiltInColumn::from_name(name),
        Some(FirstName | LastName | Address1 | Address2 | City | State | Zip)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ColumnLimits = ColumnLimits {
        per_request: 10,
        per_team: 50,
    };

    fn build_stored_column(name: &str, kind: ColumnKind, source: ColumnSource) -> TeamColumn {
        TeamColumn::new(name, ColumnType::Number, kind, source)
    }

    #[test]
    fn names_meet_whatever_their_case_and_built_in_names_are_no_custom_columns() {
        let column = build_stored_column("Lifetime Value", ColumnKind::Custom, ColumnSource::Owner);
        let mut fields = RequestColumns::new(
            vec![column],
            [("PET", ColumnType::Date)].into_iter(),
            LIMITS,
        );
        assert_eq!(
            fields.resolve_target(" lifetime VALUE"),
            FieldTarget::Custom(0)
        );
        assert_eq!(
            fields.resolve_target("First_Name"),
            FieldTarget::BuiltIn(BuiltInColumn::FirstName)
        );
        assert_eq!(fields.resolve_target("Pet"), FieldTarget::Custom(1));
        assert_eq!(fields.resolve_target("pet"), FieldTarget::Custom(1));
        assert_eq!(fields.columns()[1].column_type, ColumnType::Date);
        assert_eq!(fields.new_columns().len(), 1);
    }

    #[test]
    fn values_for_formula_and_ai_columns_are_computed_fields() {
        let columns = vec![
            build_stored_column("tier", ColumnKind::Formula, ColumnSource::Owner),
            build_stored_column("greeting", ColumnKind::Ai, ColumnSource::Owner),
        ];
        let mut fields = RequestColumns::new(columns, [].into_iter(), LIMITS);
        assert_eq!(
            [
                fields.resolve_target("Tier"),
                fields.resolve_target("greeting")
            ],
            [FieldTarget::Computed, FieldTarget::Computed]
        );
    }

    #[test]
    fn ten_new_columns_per_request_in_order_of_first_appearance() {
        let mut fields = RequestColumns::new(Vec::new(), [].into_iter(), LIMITS);
        let slots: Vec<_> = (0..12)
            .map(|number| fields.resolve_target(&format!("field {number}")))
            .collect();
        assert_eq!(slots[9], FieldTarget::Custom(9));
        assert_eq!(slots[10..], [FieldTarget::Dropped, FieldTarget::Dropped]);
        assert_eq!(fields.resolve_target("FIELD 3"), FieldTarget::Custom(3));
    }

    #[test]
    fn fifty_api_columns_per_team_count_only_those_made_over_the_api() {
        let mut columns: Vec<_> = (0..48)
            .map(|number| {
                build_stored_column(&format!("c{number}"), ColumnKind::Custom, ColumnSource::Api)
            })
            .collect();
        columns.push(build_stored_column(
            "owned",
            ColumnKind::Custom,
            ColumnSource::Owner,
        ));
        let mut fields = RequestColumns::new(columns, [].into_iter(), LIMITS);
        let slots = [
            fields.resolve_target("x"),
            fields.resolve_target("y"),
            fields.resolve_target("z"),
        ];
        assert_eq!(
            slots,
            [
                FieldTarget::Custom(49),
                FieldTarget::Custom(50),
                FieldTarget::Dropped
            ]
        );
    }
}
