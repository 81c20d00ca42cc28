use proptest::prelude::*;

use super::*;

fn render_values<'t>(
    template: &'t TextTemplate,
    values: &[(&str, &'static str)],
) -> RenderedTemplate<'t> {
    template.render(|field| {
        values
            .iter()
            .find(|(name, _)| *name == field)
            .map(|(_, value)| *value)
    })
}

#[test]
fn a_value_wins_over_the_default_and_the_default_over_nothing() {
    let template = TextTemplate::parse("Dear {{ first_name | neighbor }}, {{city}}!").unwrap();
    assert_eq!(
        template.field_names().collect::<Vec<_>>(),
        ["first_name", "city"]
    );
    assert_eq!(
        render_values(&template, &[("first_name", "Ana"), ("city", "Reno")]).text,
        "Dear Ana, Reno!"
    );
    let rendered = render_values(&template, &[("first_name", "  ")]);
    assert_eq!(rendered.text, "Dear neighbor, !");
    assert_eq!(rendered.empty_fields, ["city"]);
}

#[test]
fn an_empty_default_is_a_default() {
    let template = TextTemplate::parse("{{middle_name|}}").unwrap();
    assert_eq!(
        render_values(&template, &[]),
        RenderedTemplate {
            text: String::new(),
            empty_fields: vec![]
        }
    );
}

#[test]
fn an_empty_field_is_listed_once() {
    let template = TextTemplate::parse("{{a}}{{b}}{{a}}").unwrap();
    assert_eq!(render_values(&template, &[]).empty_fields, ["a", "b"]);
}

#[test]
fn single_braces_are_text() {
    let template = TextTemplate::parse("{a} } { {{b}}").unwrap();
    assert_eq!(render_values(&template, &[("b", "c")]).text, "{a} } { c");
}

#[test]
fn the_default_begins_at_the_first_bar() {
    let template = TextTemplate::parse("{{a|b|c}}").unwrap();
    assert_eq!(render_values(&template, &[]).text, "b|c");
}

#[test]
fn what_is_not_well_formed_is_refused() {
    for (source, error) in [
        ("Dear {{first_name", TemplateError::NotClosed),
        ("Dear first_name}}", TemplateError::NotOpened),
        ("{{a}} b}}", TemplateError::NotOpened),
        ("{{a{{b}}", TemplateError::Brace("a{{b".to_owned())),
        ("{{{a}}", TemplateError::Brace("{a".to_owned())),
        ("{{}}", TemplateError::NoName),
        ("{{ |default}}", TemplateError::NoName),
    ] {
        assert_eq!(TextTemplate::parse(source), Err(error), "{source}");
    }
}

#[test]
fn length_and_fields_are_bounded() {
    assert!(TextTemplate::parse(&"é".repeat(TEMPLATE_CHARS)).is_ok());
    assert_eq!(
        TextTemplate::parse(&"é".repeat(TEMPLATE_CHARS + 1)),
        Err(TemplateError::TooLong)
    );
    assert!(TextTemplate::parse(&"{{a}}".repeat(FIELDS_PER_TEMPLATE)).is_ok());
    assert_eq!(
        TextTemplate::parse(&"{{a}}".repeat(FIELDS_PER_TEMPLATE + 1)),
        Err(TemplateError::TooManyFields)
    );
    let name = "n".repeat(FIELD_NAME_CHARS + 1);
    assert_eq!(
        TextTemplate::parse(&format!("{{{{{name}}}}}")),
        Err(TemplateError::NameTooLong)
    );
}

proptest! {
    #[test]
    fn any_text_is_a_template_or_an_error(source in "[{}|a é]{0,40}") {
        if let Ok(template) = TextTemplate::parse(&source) {
            // Written out and read again it is the same.
            prop_assert_eq!(TextTemplate::parse(&template.to_string()), Ok(template));
        }
    }

    #[test]
    fn text_without_double_braces_is_itself(source in "\\PC{0,80}") {
        prop_assume!(!source.contains(OPENING) && !source.contains(CLOSING));
        let template = TextTemplate::parse(&source).unwrap();
        prop_assert_eq!(template.render(|_| None).text, source);
    }

    #[test]
    fn a_value_prints_as_it_is(before in "[a-z ]{0,9}", value in "\\PC{1,40}", after in "[a-z ]{0,9}") {
        prop_assume!(!is_blank(&value));
        let template = TextTemplate::parse(&format!("{before}{{{{field|default}}}}{after}")).unwrap();
        prop_assert_eq!(template.render(|_| Some(value.as_str())).text, format!("{before}{value}{after}"));
    }

    #[test]
    fn a_field_is_empty_exactly_when_it_has_neither_value_nor_default(
        fields in prop::collection::vec(("[a-d]", prop::option::of("[x-z]{0,3}")), 0..10),
        known in "[a-d]{0,3}",
    ) {
        let source: String = fields
            .iter()
            .map(|(name, default)| match default {
                Some(default) => format!("{{{{{name}|{default}}}}}"),
                None => format!("{{{{{name}}}}}"),
            })
            .collect();
        let template = TextTemplate::parse(&source).unwrap();
        let rendered = template.render(|name| known.contains(name).then_some("value"));
        for (name, _) in &fields {
            let lacks_a_default = fields.iter().any(|(other, default)| other == name && default.is_none());
            let is_empty = lacks_a_default && !known.contains(name.as_str());
            prop_assert_eq!(rendered.empty_fields.contains(&name.as_str()), is_empty);
        }
    }
}
