//! A mistake is named with its place, and the spelling that works.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test fails by panicking"
)]

mod common;

use common::{compile_problems, compile_sample, sample_columns};
use formula::{FormulaDiagnostic, compile_formula, limits};

/// The problems of a formula as `place|message|suggestion`, the place as it stands in the formula.
fn format_problems(source: &str) -> Vec<String> {
    let chars: Vec<char> = source.chars().collect();
    let place = |problem: &FormulaDiagnostic| -> String {
        chars[problem.offset..problem.offset + problem.length]
            .iter()
            .collect()
    };
    compile_problems(source)
        .iter()
        .map(|problem| {
            let suggestion = problem.suggestion.as_deref().unwrap_or("-");
            format!("{}|{}|{suggestion}", place(problem), problem.message)
        })
        .collect()
}

fn each_tells(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(format_problems(source), [*expected], "{source}");
    }
}

/// The formula with its suggestions put in.
fn apply_suggestions(source: &str) -> String {
    let mut chars: Vec<char> = source.chars().collect();
    for problem in compile_problems(source).iter().rev() {
        let suggestion = problem
            .suggestion
            .as_ref()
            .unwrap_or_else(|| panic!("{source}: {problem}"));
        chars.splice(
            problem.offset..problem.offset + problem.length,
            suggestion.chars(),
        );
    }
    chars.into_iter().collect()
}

#[test]
fn spreadsheet_spellings_are_told_what_works_here() {
    each_tells(&[
        ("=UPPER(state)", "=|A formula here begins without =.|"),
        ("state = \"TX\"", "=|Equal is written ==.|=="),
        ("state <> \"TX\"", "<>|Not equal is written !=.|!="),
        ("state === \"TX\"", "===|Equal is written ==.|=="),
        ("state !== \"TX\"", "!==|Not equal is written !=.|!="),
        (
            "state not in [\"TX\"]",
            "not|Not in a list is written !(value in [...]).|-",
        ),
        ("spend => 5", "=>|Greater or equal is written >=.|>="),
        ("spend =< 5", "=<|Less or equal is written <=.|<="),
        (
            "first_name & state",
            "&|Texts are joined by + or CONCAT(...); and is written && or AND(...).|+",
        ),
        ("member | opted_in", "||Or is written || or OR(...).|||"),
        ("LEFT(state; 1)", ";|Arguments are separated by commas.|,"),
        ("spend ^ 2", "^|A power is written POWER(base, exponent).|-"),
        (
            "$5 + spend",
            "$|Amounts are written without $; TEXT(amount, \"$0.00\") shows it.|-",
        ),
        ("TRUE()", "TRUE|True is written without brackets.|TRUE"),
        (
            "NOW()",
            "NOW|A formula knows the day, not the time.|TODAY()",
        ),
        (
            "TODAY - last_visit",
            "TODAY|The function TODAY is written with brackets.|TODAY()",
        ),
        ("“VIP”", "“VIP”|Texts stand in straight quotes.|\"VIP\""),
        (
            "{{first_name}}",
            "{{first_name}}|In a formula a column stands in single braces.|{first_name}",
        ),
        (
            "member AND opted_in",
            "AND|Write && here, or AND(...) around the conditions.|&&",
        ),
        (
            "NOT member",
            "NOT|Write ! here, or NOT(...) around the conditions.|!",
        ),
        ("spend × 2", "×|Times is written *.|*"),
        ("spend ≥ 2", "≥|Greater or equal is written >=.|>="),
        (
            "\"say \"\"hi",
            "\"|A quote within a text is written \\\".|\\\"",
        ),
    ]);
}

#[test]
fn several_mistakes_are_told_at_once_and_their_suggestions_mend_the_formula() {
    let cases = [
        (
            "=IF(state<>\"TX\"; first_name & \"!\"; \"\")",
            "IF(state!=\"TX\", first_name + \"!\", \"\")",
        ),
        ("PRPER(frist_name)", "PROPER(first_name)"),
        (
            "First order > \"2026-01-01\"",
            "{First order} > \"2026-01-01\"",
        ),
        ("{first ordr} == null", "{First order} == null"),
        ("first_name * 2", "VALUE(first_name) * 2"),
        ("lifetime_value > \"500\"", "lifetime_value > 500"),
        ("YEAR(first_name)", "YEAR(DATEVALUE(first_name))"),
        (
            "SWITCH(spend, \"10\", \"a\", \"b\")",
            "SWITCH(spend, 10, \"a\", \"b\")",
        ),
        (
            "SWITCH(state, 1, \"a\", \"b\")",
            "SWITCH(state, \"1\", \"a\", \"b\")",
        ),
        ("IF(lifetime_value, 1, 2)", "IF(lifetime_value != 0, 1, 2)"),
        ("IF(first_name, 1, 2)", "IF(first_name != \"\", 1, 2)"),
        ("IF(last_visit, 1, 2)", "IF(!ISBLANK(last_visit), 1, 2)"),
        ("member + 1", "IF(member, 1, 0) + 1"),
        ("state == “TX”", "state == \"TX\""),
        (
            "REGEXMATCH(state, \"\\d\\s\")",
            "REGEXMATCH(state, \"\\\\d\\\\s\")",
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(apply_suggestions(source), expected, "{source}");
        compile_sample(expected);
    }
}

#[test]
fn what_is_unknown_is_named_with_the_nearest_name() {
    each_tells(&[
        (
            "frist_name",
            "frist_name|There is no column frist_name. Did you mean first_name?|first_name",
        ),
        (
            "UPER(state)",
            "UPER|There is no function UPER. Did you mean UPPER?|UPPER",
        ),
        (
            "zzzzzz",
            "zzzzzz|There is no column zzzzzz. A text stands in quotes.|-",
        ),
        (
            "SPLIT(state, \" \")",
            "SPLIT|A part of a text is TEXTBEFORE(text, separator) or TEXTAFTER(text, separator), by a pattern \
             REGEXEXTRACT(text, pattern), and by its place MID(text, start, count).|TEXTBEFORE",
        ),
        ("VLOKUPP(state)", "VLOKUPP|There is no function VLOKUPP.|-"),
    ]);
}

#[test]
fn brackets_and_operators_are_checked_by_their_place() {
    each_tells(&[
        ("", "|The formula is empty.|-"),
        ("UPPER(state", "(|This ( is not closed.|-"),
        ("state)", ")|There is no open bracket for this ).|-"),
        ("UPPER(state]", "]|This ] closes a (.|-"),
        ("1 +", "+|A value is missing behind this.|-"),
        ("* 2", "*|Before * a value is missing.|-"),
        (
            "IF(member,,2)",
            ",|Between , and , a value is missing; blank is written \"\".|-",
        ),
        (
            "1 2",
            "2|Between 1 and 2 an operator or a comma is missing.|-",
        ),
        (
            "1, 2",
            ",|A comma stands between the arguments of a function, within its brackets.|-",
        ),
        (
            "\"abc",
            "\"|The text that begins here has no closing quote.|-",
        ),
        (
            "{abc",
            "{|The { has no } behind it; a column is written {First order}.|-",
        ),
        (
            "12abc",
            "12abc|This is not a number; one is written 1234.5, without commas or a unit.|-",
        ),
        (
            "member ? 1",
            "?|A choice is written condition ? value : other, or IF(condition, value, other).|-",
        ),
        (
            "member ? opted_in ? 1 : 2 : 3",
            "?|A choice is written condition ? value : other, or IF(condition, value, other).|-",
        ),
        (
            "(member ? 1, 2)",
            "?|A choice is written condition ? value : other, or IF(condition, value, other).|-",
        ),
        (
            "1 : 2",
            ":|A choice is written condition ? value : other, or IF(condition, value, other).|-",
        ),
        ("(1, 2) == 3", ",|, does not fit here.|-"),
        ("!-spend", "-|- does not fit here.|-"),
        ("state.\"x\"", "\"x\"|\"x\" does not fit here.|-"),
        (
            "IF(-2.5, 1, 2)",
            "-2.5|A condition is needed here, and this is a number; compare it with something.|-2.5 != 0",
        ),
        ("#", "#|# has no meaning in a formula.|-"),
        ("b\"x\"", "b|A text has no b before it.|-"),
    ]);
}

#[test]
fn arguments_are_checked_by_number_and_type() {
    each_tells(&[
        (
            "LEFT()",
            "LEFT|More arguments are needed: LEFT(text, [count]).|-",
        ),
        (
            "LEFT(state, 1, 2)",
            "LEFT|These are too many arguments: LEFT(text, [count]).|-",
        ),
        (
            "LEFT(state, last_visit)",
            "last_visit|A number is needed here, and this is a date; YEAR, DAYS or DATEDIF make a number of it.|-",
        ),
        (
            "DATEDIF(last_visit, TODAY(), \"W\")",
            "\"W\"|This must be one of \"Y\", \"M\", \"D\", \"MD\", \"YM\", \"YD\".|-",
        ),
        (
            "YEAR(birthday)",
            "birthday|A date is needed here, and a birthday often has no year, such as 7/4. MONTH(birthday) and DAY(birthday) \
             read every one; DATEVALUE(birthday) reads those with a year and is blank for the others.|-",
        ),
        (
            "last_visit + last_visit",
            "+|Two dates cannot be added; the days between them are end - start.|-",
        ),
        (
            "last_visit > 5",
            "last_visit > 5|A date is not compared with a number.|-",
        ),
        (
            "member > TRUE",
            ">|Yes and no have no order; compare them with == or !=.|-",
        ),
        (
            "state in \"TX\"",
            "\"TX\"|Behind in stands a list, as in state in [\"TX\", \"OK\"]; CONTAINS looks into a text.|-",
        ),
        (
            "REGEXMATCH(state, first_name)",
            "first_name|A regular expression stands in the formula as a text in quotes.|-",
        ),
        (
            "REGEXMATCH(state, \"(\")",
            "\"(\"|This is not a regular expression: unclosed group.|-",
        ),
        (
            "[1, 2]",
            "[|A list stands only behind in, as in state in [\"TX\", \"OK\"].|-",
        ),
        (
            "state.name",
            ".|A point stands only in numbers; a column with a point in its name is written {a.b}.|-",
        ),
    ]);
    assert_eq!(compile_problems("MAX(1, last_visit)").len(), 2);
}

/// The warnings of a formula as `place|first words`.
fn format_warnings(source: &str) -> Vec<String> {
    let chars: Vec<char> = source.chars().collect();
    let told = |warning: &FormulaDiagnostic| {
        let place: String = chars[warning.offset..warning.offset + warning.length]
            .iter()
            .collect();
        format!(
            "{place}|{}",
            warning.message.split([':', '.']).next().unwrap_or_default()
        )
    };
    compile_sample(source).warnings().iter().map(told).collect()
}

#[test]
fn blanks_that_are_passed_over_are_warned_of() {
    let passed = "MIN(30, spend / 10|MIN passes a blank over";
    let joined = |place: &str, column: &str| {
        format!("{place}|Who has no {column} gets the text around it alone")
    };
    assert_eq!(format_warnings("MIN(30, spend / 10) + \" %\""), [passed]);
    assert_eq!(
        format_warnings("\"$\" + spend"),
        [joined("\"$\" + spend", "spend")]
    );
    assert_eq!(
        format_warnings("\"$\" + spend + \" off\""),
        [joined("\"$\" + spend + \" off\"", "spend")]
    );
    assert_eq!(
        format_warnings("\"$\" + TEXT(spend, \"0.00\")"),
        [joined("\"$\" + TEXT(spend, \"0.00\"", "spend")]
    );
    assert_eq!(
        format_warnings("CONCAT(\"since \", {First order})"),
        [joined("CONCAT(\"since \", {First order}", "{First order}")]
    );
    // In the branch that does not ask.
    assert_eq!(
        format_warnings("IF(member, MIN(30, spend / 10), 5)"),
        [passed]
    );
    assert_eq!(
        format_warnings("IF(ISBLANK(visits), 5, MIN(30, spend / 10))"),
        [passed]
    );
    assert_eq!(
        format_warnings("IF(ISBLANK(spend), MIN(30, spend / 10), 5)"),
        [passed]
    );
}

#[test]
fn who_says_what_a_blank_comes_to_is_not_warned() {
    for source in [
        "IF(ISBLANK(spend), 5, MIN(30, spend / 10))",
        "ISBLANK(spend) ? \"\" : \"$\" + spend",
        "IF(!ISBLANK(spend) && member, \"$\" + spend, \"\")",
        "IF(OR(ISBLANK(spend), ISBLANK(visits)), 0, MAX(spend, visits))",
        "IF(spend != null, \"$\" + spend, \"\")",
        "IF(spend > 0, \"$\" + spend, \"\")",
        "IFS(ISBLANK(spend), 5, member, MIN(30, spend), MIN(20, spend))",
        "IF(spend in [10, 20], \"$\" + spend, \"\")",
        "MIN(30, IFBLANK(spend, 0))",
        "\"Dear \" + first_name",
        "MIN(1, 2)",
        "SUM(spend, visits)",
    ] {
        assert_eq!(format_warnings(source), [""; 0], "{source}");
    }
}

#[test]
fn groups_that_are_not_filled_in_are_warned_of() {
    for (source, told) in [
        ("REGEXREPLACE(state, \"(T)\", r\"\\1\")", "written $1"),
        ("REGEXREPLACE(state, \"T\", \"$1\")", "no group (...)"),
        ("REGEXREPLACE(state, \"(T)\", \"$1$2\")", "no group 2"),
        (
            "REGEXREPLACE(state, \"(T)\", \"$1\" + state)",
            "one text in quotes",
        ),
    ] {
        let warnings = compile_sample(source).warnings().to_vec();
        assert!(
            warnings.len() == 1 && warnings[0].message.contains(told),
            "{source}: {warnings:?}"
        );
    }
    assert!(
        compile_sample("REGEXREPLACE(state, \"(T)\", \"$1-$$1\")")
            .warnings()
            .is_empty()
    );
}

#[test]
fn bounds_are_told() {
    let long = "1+".repeat(limits::MAX_SOURCE_CHARS);
    assert_eq!(
        compile_problems(&long)[0].message,
        "A formula has at most 2000 characters."
    );
    let wide = format!("{}1", "1+".repeat(limits::MAX_TOKENS));
    assert_eq!(
        compile_problems(&wide)[0].message,
        "A formula has at most 600 words, numbers and signs."
    );
    let deep = format!("{}1{}", "(".repeat(40), ")".repeat(40));
    assert_eq!(
        compile_problems(&deep)[0].message,
        "Brackets may be nested 32 deep."
    );
    let choices = format!("{}3", "true ? 1 : ".repeat(80));
    assert_eq!(
        compile_problems(&choices)[0].message,
        "The formula is nested more than 64 deep; IFS and SWITCH hold many cases side by side."
    );
    let pattern = format!("REGEXMATCH(state, \"{}\")", "a".repeat(201));
    assert_eq!(
        compile_problems(&pattern)[0].message,
        "A regular expression has at most 200 characters."
    );
    let large = "REGEXMATCH(state, r\"(\\w{50}){50}\")";
    assert!(
        compile_problems(large)[0]
            .message
            .starts_with("This regular expression is too large")
    );
    let five = ["REGEXMATCH(state, \"a\")"; 5].join(" && ");
    assert_eq!(
        compile_problems(&five)[0].message,
        "A formula has at most 4 regular expressions."
    );
    assert!(compile_problems(&"frist_name + ".repeat(20)).len() <= limits::MAX_PROBLEMS);
}

#[test]
fn a_problem_as_json() {
    let json = serde_json::to_value(&compile_problems("1 + UPER(state)")[0]).unwrap();
    let expected = serde_json::json!({
        "offset": 4, "length": 4, "message": "There is no function UPER. Did you mean UPPER?", "suggestion": "UPPER",
    });
    assert_eq!(json, expected);
    let json = serde_json::to_value(&compile_problems("1 +")[0]).unwrap();
    assert_eq!(
        json,
        serde_json::json!({"offset": 2, "length": 1, "message": "A value is missing behind this."})
    );
}

#[test]
fn an_outcome_as_json() {
    let json = |source| serde_json::to_value(common::evaluate_sample(source)).unwrap();
    assert_eq!(json("1.50"), serde_json::json!({"value": "1.5"}));
    assert_eq!(
        json("1 / 0"),
        serde_json::json!({"value": null, "reason": "division by zero"})
    );
    assert!(compile_formula("1", &sample_columns()).is_ok());
}

#[test]
fn what_spreadsheets_have_and_formulas_have_not_is_told_with_the_way_round() {
    each_tells(&[
        (
            "IFNA(spend, 1)",
            "IFNA|What stands in for an error is said by IFERROR, and for a blank by IFBLANK.|IFERROR",
        ),
        (
            "XOR(member, opted_in)",
            "XOR|Whether just one of two conditions holds is written condition != other.|-",
        ),
        (
            "VLOOKUP(state)",
            "VLOOKUP|A formula sees one person and no other rows; a few cases stand in SWITCH(value, case, result, ...).|-",
        ),
        (
            "spend * 10%",
            "10%|A percentage is divided by 100.|10 / 100",
        ),
        (
            "(spend * 10%) + 1",
            "10%|A percentage is divided by 100.|10 / 100",
        ),
        (
            "spend > 1,000",
            "1,000|A number is written without commas.|1000",
        ),
        (
            "last_visit > 2026-01-31",
            "2026-01-31|A date stands in quotes.|\"2026-01-31\"",
        ),
        (
            "YEAR(7/4/2026)",
            "7/4/2026|A date stands in quotes.|\"7/4/2026\"",
        ),
        (
            "TEXTJOIN(\", \", TRUE, state)",
            "TRUE|TEXTJOIN leaves blanks out by itself and takes no TRUE or FALSE: TEXTJOIN(separator, value, ...).|-",
        ),
    ]);
    compile_sample("MAX(1,200)");
}

#[test]
fn a_value_of_another_type_is_told_at_its_place() {
    each_tells(&[
        (
            "state in [\"TX\", 5]",
            "5|A text is looked for, and this is a number.|\"5\"",
        ),
        (
            "member == \"maybe\"",
            "\"maybe\"|A condition is needed here, and this is text that reads neither as yes nor as no; write TRUE or FALSE.|-",
        ),
        (
            "last_visit > \"soon\"",
            "\"soon\"|A date is needed here, and this is text that is no date; one is written \"2026-01-31\".|-",
        ),
        (
            "MAX(member)",
            "member|MAX takes numbers or dates, and this is yes or no.|-",
        ),
        (
            "MAX(state)",
            "state|MAX takes numbers or dates, and this is text.|-",
        ),
        ("\"\\ud800\"", "\\ud800|There is no character \\ud800.|-"),
        (
            "\"\\U00110000\"",
            "\\U00110000|There is no character \\U00110000.|-",
        ),
    ]);
}

#[test]
fn a_format_of_another_kind_is_told() {
    each_tells(&[
        (
            "TEXT(state, \"0.00\")",
            "\"0.00\"|A text has no format; VALUE reads a number from it and DATEVALUE a date.|-",
        ),
        (
            "TEXT(last_visit, \"0.00\")",
            "0|A date is written with Y, M and D; a 0 that is to print stands in quotes.|-",
        ),
        (
            "TEXT(last_visit, \"/\")",
            "/|A date is written where Y, M or D stands, as in MMMM D, YYYY.|-",
        ),
        (
            "TEXT(last_visit, 'Dear MMMM')",
            "e|Letters other than Y, M and D stand in quotes; this is e.|-",
        ),
        (
            "TEXT(last_visit, 'h:mm')",
            "h|A date has no time; letters other than Y, M and D stand in quotes.|-",
        ),
        (
            "TEXT(spend, \"/\")",
            "/|A number is written where 0 or # stands, as in $#,##0.00.|-",
        ),
        (
            "TEXT(spend, '0 pts')",
            "p|Letters stand in quotes, as in 0 \"points\"; this is p.|-",
        ),
        (
            "TEXT(spend, '0E+0')",
            "E|Formats have no powers of ten; letters stand in quotes, as in 0 \"points\".|-",
        ),
        (
            "TEXT(spend, '# ?/?')",
            "?|Formats have no fractions and no ? for a space; digits are 0 or #.|-",
        ),
    ]);
    compile_sample("TEXT(last_visit, \"mmm d\") + TEXT(spend, \"#.##\") + TEXT(state)");
}
