//! Which column is which field: by the headings, by what was said with `--map`, and with an error instead of a guess.

use std::collections::{HashMap, HashSet};
use std::str::FromStr;

use model::limits::FIELD_NAME_CHARS;
use strsim::osa_distance;

use super::known::KnownField;

/// Names shorter than this are near to everything.
const NEAR_FROM_CHARS: usize = 4;

/// Headings that an error lists.
const HEADINGS_SHOWN: usize = 30;

/// `COLUMN=FIELD`, as typed; an empty field leaves the column out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnMapping {
    column: String,
    field: String,
}

impl FromStr for ColumnMapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (column, field) = text
            .rsplit_once('=')
            .ok_or("write COLUMN=FIELD, or COLUMN= to leave it out")?;
        if column.trim().is_empty() {
            return Err("the column's heading is missing: write COLUMN=FIELD".to_owned());
        }
        Ok(Self {
            column: column.trim().to_owned(),
            field: field.trim().to_owned(),
        })
    }
}

/// What becomes of a column that is no known field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownColumnRule {
    /// It is a custom column under its heading.
    OwnColumn,
    /// It is an error, with what to do about it.
    Refused(&'static str),
}

/// The field that each column fills; `None` for one that is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MappedColumns {
    /// In the file's order.
    pub(crate) fields: Vec<Option<String>>,
    /// The places of those of which `--map` says what they are.
    pub(crate) said: HashSet<usize>,
}

impl MappedColumns {
    /// The place of the column that fills a field.
    pub(crate) fn position(&self, field: &str) -> Option<usize> {
        self.fields
            .iter()
            .position(|filled| filled.as_deref() == Some(field))
    }
}

/// A field of the API with everything that it may be called, plain.
struct MappingTarget<'a> {
    field: &'a str,
    names: Vec<String>,
}

/// Maps columns to fields. `own` are further fields with the names that they go by; `required` must be filled.
///
/// # Errors
/// Sentences, one for each thing that is not clear: a guess would be printed and mailed.
pub(crate) fn map_columns(
    headings: &[String],
    known: &'static [KnownField],
    own: &[(String, Vec<String>)],
    mappings: &[ColumnMapping],
    required: &[&str],
    unknown: UnknownColumnRule,
) -> Result<MappedColumns, Vec<String>> {
    let targets = build_targets(known, own);
    let mut problems = Vec::new();
    let said = resolve_mappings(headings, mappings, &mut problems);
    let mut fields = Vec::new();
    for (index, heading) in headings.iter().enumerate() {
        let column = HeadingColumn {
            number: index + 1,
            heading,
        };
        let field = match said.get(&index) {
            Some(field) => check_mapping(&column, field, &targets, unknown),
            None => guess_field(
                &column,
                &targets,
                &said.values().copied().collect::<Vec<_>>(),
                unknown,
            ),
        };
        fields.push(field.unwrap_or_else(|problem| {
            problems.push(problem);
            None
        }));
    }
    refuse_doubles(headings, &fields, &mut problems);
    if problems.is_empty() {
        refuse_missing(headings, &fields, required, &mut problems);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(MappedColumns {
        fields,
        said: said.into_keys().collect(),
    })
}

struct HeadingColumn<'a> {
    number: usize,
    heading: &'a str,
}

impl std::fmt::Display for HeadingColumn<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "column {} \"{:.60}\"", self.number, self.heading)
    }
}

fn build_targets<'a>(
    known: &'static [KnownField],
    own: &'a [(String, Vec<String>)],
) -> Vec<MappingTarget<'a>> {
    let known = known.iter().map(|known| MappingTarget {
        field: known.field,
        names: std::iter::once(known.field)
            .chain(known.aliases.iter().copied())
            .map(normalize_heading)
            .collect(),
    });
    let own = own.iter().map(|(field, names)| MappingTarget {
        field,
        names: std::iter::once(field)
            .chain(names)
            .map(|name| normalize_heading(name))
            .collect(),
    });
    // A field that the caller names exactly comes before what another one may also be called.
    own.chain(known).collect()
}

/// Small letters and digits only: `Zip Code`, `zip_code` and `ZIP-code` are one heading.
fn normalize_heading(name: &str) -> String {
    name.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// What was typed, by the position of its column.
fn resolve_mappings<'a>(
    headings: &[String],
    mappings: &'a [ColumnMapping],
    problems: &mut Vec<String>,
) -> HashMap<usize, &'a str> {
    let mut said = HashMap::new();
    for ColumnMapping { column, field } in mappings {
        let found = headings
            .iter()
            .position(|heading| heading == column)
            .or_else(|| {
                headings
                    .iter()
                    .position(|heading| normalize_heading(heading) == normalize_heading(column))
            });
        match found {
            Some(index) => {
                said.insert(index, field.as_str());
            }
            None => {
                let near = find_nearest(column, headings.iter().map(String::as_str));
                let hint = near
                    .map(|near| format!("; did you mean \"{near}\"?"))
                    .unwrap_or_default();
                problems.push(format!(
                    "--map \"{column}={field}\": the file has no such column{hint}"
                ));
            }
        }
    }
    said
}

fn check_mapping(
    column: &HeadingColumn<'_>,
    field: &str,
    targets: &[MappingTarget<'_>],
    unknown: UnknownColumnRule,
) -> Result<Option<String>, String> {
    if field.is_empty() {
        return Ok(None);
    }
    if targets.iter().any(|target| target.field == field) || unknown == UnknownColumnRule::OwnColumn
    {
        return checked_name(column, field).map(Some);
    }
    let near = find_nearest(field, targets.iter().map(|target| target.field));
    let hint = near
        .map(|near| format!("; did you mean {near}?"))
        .unwrap_or_default();
    Err(format!("{column}: there is no field {field}{hint}"))
}

fn guess_field(
    column: &HeadingColumn<'_>,
    targets: &[MappingTarget<'_>],
    taken: &[&str],
    unknown: UnknownColumnRule,
) -> Result<Option<String>, String> {
    let (heading, name) = (column.heading, normalize_heading(column.heading));
    if name.is_empty() {
        // Spreadsheets leave empty columns behind their last one.
        return Ok(None);
    }
    let exact = targets.iter().find(|target| target.field == heading);
    let called = || targets.iter().find(|target| target.names.contains(&name));
    if let Some(target) = exact.or_else(called)
        // What was said of another column is not guessed again for this one.
        && !taken.contains(&target.field)
    {
        return Ok(Some(target.field.to_owned()));
    }
    if let Some(field) = near_field(&name, targets).filter(|field| !taken.contains(field)) {
        return Err(match unknown {
            UnknownColumnRule::OwnColumn => format!(
                "{column} looks like {field}: say --map '{heading}={field}', or --map '{heading}={heading}' for a \
                 column of its own, or --map '{heading}=' to leave it out"
            ),
            UnknownColumnRule::Refused(_) => format!(
                "{column} looks like {field}: say --map '{heading}={field}', or --map '{heading}=' to leave it out"
            ),
        });
    }
    match unknown {
        UnknownColumnRule::OwnColumn => checked_name(column, heading).map(Some),
        UnknownColumnRule::Refused(help) => Err(format!(
            "{column} {help}, or say --map '{heading}=' to leave it out"
        )),
    }
}

fn checked_name(column: &HeadingColumn<'_>, field: &str) -> Result<String, String> {
    if field.chars().count() > FIELD_NAME_CHARS {
        return Err(format!(
            "{column}: the name of a field has at most {FIELD_NAME_CHARS} characters"
        ));
    }
    Ok(field.to_owned())
}

fn near_field<'a>(name: &str, targets: &[MappingTarget<'a>]) -> Option<&'a str> {
    targets
        .iter()
        .find(|target| target.names.iter().any(|known| is_near(name, known)))
        .map(|target| target.field)
}

/// A slip in a short name, two in a longer one. Of three letters only those of `zip` count, in another order too.
fn is_near(name: &str, known: &str) -> bool {
    let length = known.chars().count();
    if length < NEAR_FROM_CHARS && known != "zip" {
        return false;
    }
    let allowed = if length > 6 { 2 } else { 1 };
    name.chars().count() >= NEAR_FROM_CHARS.min(length) && osa_distance(name, known) <= allowed
}

fn find_nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = normalize_heading(word);
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    candidates
        .map(|candidate| {
            (
                osa_distance(&word, &normalize_heading(candidate)),
                candidate,
            )
        })
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn refuse_doubles(headings: &[String], fields: &[Option<String>], problems: &mut Vec<String>) {
    let mut first = HashMap::new();
    for (index, field) in fields.iter().enumerate() {
        let Some(field) = field else { continue };
        // The service compares custom names without regard to case.
        let Some(earlier) = first.insert(field.to_lowercase(), index) else {
            continue;
        };
        problems.push(format!(
            "columns {} \"{:.60}\" and {} \"{:.60}\" both fill {field}: say --map '{}=' to leave one out",
            earlier + 1,
            headings[earlier],
            index + 1,
            headings[index],
            headings[index],
        ));
    }
}

fn refuse_missing(
    headings: &[String],
    fields: &[Option<String>],
    required: &[&str],
    problems: &mut Vec<String>,
) {
    for field in required {
        if fields.iter().flatten().any(|filled| filled == field) {
            continue;
        }
        let shown: Vec<String> = headings
            .iter()
            .take(HEADINGS_SHOWN)
            .map(|heading| format!("\"{heading:.60}\""))
            .collect();
        problems.push(format!(
            "no column fills {field}: say --map 'COLUMN={field}'; the columns are {}",
            shown.join(", ")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::known::{CONTACT, RECIPIENT};

    const ADDRESS: [&str; 4] = ["address_1", "city", "state", "zip"];

    fn map_headings(headings: &[&str], mappings: &[&str]) -> Result<Vec<String>, String> {
        let headings: Vec<String> = headings.iter().map(|&heading| heading.to_owned()).collect();
        let mappings: Vec<ColumnMapping> =
            mappings.iter().map(|text| text.parse().unwrap()).collect();
        map_columns(
            &headings,
            RECIPIENT,
            &[],
            &mappings,
            &ADDRESS,
            UnknownColumnRule::OwnColumn,
        )
        .map(|columns| {
            columns
                .fields
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect()
        })
        .map_err(|problems| problems.join("\n"))
    }

    #[test]
    fn headings_are_known_by_what_people_call_them() {
        let headings = [
            "ID",
            "First Name",
            "Surname",
            "Street Address",
            "Apt",
            "CITY",
            "st",
            "Zip-Code",
            "Visits",
            "",
        ];
        let fields = [
            "reference",
            "first_name",
            "last_name",
            "address_1",
            "address_2",
            "city",
            "state",
            "zip",
            "Visits",
            "",
        ];
        assert_eq!(map_headings(&headings, &[]).unwrap(), fields);
    }

    #[test]
    fn a_heading_with_a_slip_is_asked_about_and_never_guessed() {
        let headings = ["Frist Name", "address", "city", "state", "zip"];
        let problem = map_headings(&headings, &[]).unwrap_err();
        assert!(
            problem.contains(
                "column 1 \"Frist Name\" looks like first_name: say --map 'Frist Name=first_name'"
            ),
            "{problem}"
        );
        assert_eq!(
            map_headings(&headings, &["Frist Name=first_name"]).unwrap()[0],
            "first_name"
        );
        assert_eq!(
            map_headings(&headings, &["Frist Name=Frist Name"]).unwrap()[0],
            "Frist Name"
        );
        assert_eq!(map_headings(&headings, &["Frist Name="]).unwrap()[0], "");
    }

    #[test]
    fn a_column_that_the_file_does_not_have_gets_the_nearest_one_suggested() {
        let problem = map_headings(
            &["address", "city", "state", "Zip Code"],
            &["Zipp Code=zip"],
        )
        .unwrap_err();
        assert_eq!(
            problem,
            "--map \"Zipp Code=zip\": the file has no such column; did you mean \"Zip Code\"?"
        );
    }

    #[test]
    fn what_mailing_needs_must_be_there_and_only_once() {
        let problem = map_headings(&["address", "city", "state"], &[]).unwrap_err();
        assert!(
            problem.starts_with(
                "no column fills zip: say --map 'COLUMN=zip'; the columns are \"address\""
            ),
            "{problem}"
        );
        let problem =
            map_headings(&["street", "address", "city", "state", "zip"], &[]).unwrap_err();
        assert!(
            problem.starts_with("columns 1 \"street\" and 2 \"address\" both fill address_1"),
            "{problem}"
        );
    }

    #[test]
    fn of_two_columns_for_a_field_the_one_that_was_said_counts() {
        let fields = map_headings(
            &["mail", "Mailing Address", "address", "city", "state", "zip"],
            &["address=address_1", "mail="],
        );
        assert_eq!(
            fields.unwrap(),
            ["", "Mailing Address", "address_1", "city", "state", "zip"]
        );
    }

    #[test]
    fn a_pushed_column_must_be_declared() {
        let headings = ["id".to_owned(), "emial".to_owned(), "shoe size".to_owned()];
        let own = [("Email".to_owned(), vec!["E-mail address".to_owned()])];
        let unknown = UnknownColumnRule::Refused("is not declared: say --declare");
        let problems =
            map_columns(&headings, CONTACT, &own, &[], &["external_id"], unknown).unwrap_err();
        assert!(problems[0].contains("looks like Email"), "{problems:?}");
        assert!(
            problems[1].starts_with("column 3 \"shoe size\" is not declared: say --declare"),
            "{problems:?}"
        );
    }
}
