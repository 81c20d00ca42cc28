//! The parser of the `cel` crate as the oracle of ours: both read the same tree, or both refuse.
//!
//! It gets the tokens in ASCII on one line, with `c7` for a column and `f7` for a function, where 7 is the position of the
//! token: so no name meets CEL's reserved words or its macros.

use cel::Env;
use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestRunner;

use super::{is_called, is_in, parse, parse_literal};
use crate::node::{AdditiveOperator, ComparisonOperator, MultiplicativeOperator};
use crate::scan::{FormulaToken, TokenKind, read_number, scan_tokens};
use crate::shape;
use crate::syntax::{SyntaxKind, SyntaxNode};

/// Stack of the thread that asks the oracle, whose recursion takes tens of kilobytes a level.
const ORACLE_STACK_BYTES: usize = 64 << 20;

fn tokens_for_oracle(tokens: &[FormulaToken]) -> String {
    let written = (0..tokens.len()).map(|at| token_for_oracle(tokens, at));
    written.collect::<Vec<_>>().join(" ")
}

fn token_for_oracle(tokens: &[FormulaToken], at: usize) -> String {
    let token = &tokens[at];
    match &token.kind {
        // As a number with a point, since CEL's whole numbers have another range.
        TokenKind::Number => format!("{:?}", read_number(&token.source).unwrap()),
        TokenKind::Text(text) => {
            let escaped = text.chars().map(|one| format!("\\U{:08x}", u32::from(one)));
            format!("\"{}\"", escaped.collect::<String>())
        }
        TokenKind::Symbol(symbol) => (*symbol).to_owned(),
        TokenKind::Braced(_) => format!("c{at}"),
        TokenKind::Word if is_called(tokens, at) => format!("f{at}"),
        TokenKind::Word if is_in(token) || parse_literal(token).is_some() => {
            token.source.to_ascii_lowercase()
        }
        TokenKind::Word => format!("c{at}"),
    }
}

/// Our tree in brackets.
fn format_tree(node: &SyntaxNode<'_>, tokens: &[FormulaToken]) -> String {
    let place = |token: &FormulaToken| {
        let at = tokens.iter().position(|one| one.span == token.span);
        at.unwrap().to_string()
    };
    let list_of = |nodes: Vec<&SyntaxNode<'_>>| -> String {
        let nodes = nodes.into_iter();
        nodes
            .map(|node| format!(" {}", format_tree(node, tokens)))
            .collect()
    };
    let list = |nodes: &[SyntaxNode<'_>]| list_of(nodes.iter().collect());
    match &node.kind {
        SyntaxKind::Number(number) => format!("{number:?}"),
        SyntaxKind::Text(text) => format!("{text:?}"),
        SyntaxKind::YesNo(yes) => yes.to_string(),
        SyntaxKind::Null => "null".to_owned(),
        SyntaxKind::Column(token) => format!("c{}", place(token)),
        SyntaxKind::Call(name, arguments) => format!("(f{}{})", place(name), list(arguments)),
        SyntaxKind::Negate(one) => format!("(neg {})", format_tree(one, tokens)),
        SyntaxKind::Not(one) => format!("(not {})", format_tree(one, tokens)),
        SyntaxKind::Sum(first, links) => {
            links.iter().fold(format_tree(first, tokens), |left, link| {
                let sign = match link.operator {
                    AdditiveOperator::Plus => "+",
                    AdditiveOperator::Minus => "-",
                };
                format!("({sign} {left} {})", format_tree(&link.operand, tokens))
            })
        }
        SyntaxKind::Product(first, links) => {
            links.iter().fold(format_tree(first, tokens), |left, link| {
                let sign = match link.operator {
                    MultiplicativeOperator::Times => "*",
                    MultiplicativeOperator::Over => "/",
                    MultiplicativeOperator::Modulo => "%",
                };
                format!("({sign} {left} {})", format_tree(&link.operand, tokens))
            })
        }
        SyntaxKind::Compare(comparison, both) => {
            let sign = match comparison {
                ComparisonOperator::Equal => "==",
                ComparisonOperator::NotEqual => "!=",
                ComparisonOperator::Less => "<",
                ComparisonOperator::LessOrEqual => "<=",
                ComparisonOperator::Greater => ">",
                ComparisonOperator::GreaterOrEqual => ">=",
            };
            format!("({sign}{})", list(both.as_slice()))
        }
        SyntaxKind::OneOf(both) => format!("(in{})", list(both.as_slice())),
        SyntaxKind::All(_) => format!("(&&{})", list_of(flatten_operands(node))),
        SyntaxKind::Any(_) => format!("(||{})", list_of(flatten_operands(node))),
        SyntaxKind::Choice(parts) => format!("(?{})", list(parts.as_slice())),
        SyntaxKind::List(nodes) => format!("[{} ]", list(nodes)),
        SyntaxKind::Member => "(.)".to_owned(),
    }
}

/// The operands of a chain of conditions, with those of the same operator in brackets among them: the oracle's tree does
/// not tell both apart, and they mean the same.
fn flatten_operands<'n, 'a>(node: &'n SyntaxNode<'a>) -> Vec<&'n SyntaxNode<'a>> {
    let (SyntaxKind::All(own) | SyntaxKind::Any(own)) = &node.kind else {
        return vec![node];
    };
    let is_same = |inner: &SyntaxNode<'_>| {
        std::mem::discriminant(&inner.kind) == std::mem::discriminant(&node.kind)
    };
    own.iter()
        .flat_map(|inner| match is_same(inner) {
            true => flatten_operands(inner),
            false => vec![inner],
        })
        .collect()
}

/// The oracle's tree in brackets.
fn format_oracle_tree(node: &IdedExpr) -> String {
    let list = |nodes: &[IdedExpr]| -> String {
        nodes
            .iter()
            .map(|node| format!(" {}", format_oracle_tree(node)))
            .collect()
    };
    match &node.expr {
        Expr::Literal(LiteralValue::Double(number)) => format!("{:?}", number.inner()),
        Expr::Literal(LiteralValue::String(text)) => format!("{:?}", text.inner()),
        Expr::Literal(LiteralValue::Boolean(yes)) => yes.inner().to_string(),
        Expr::Literal(LiteralValue::Null) => "null".to_owned(),
        Expr::Ident(name) => name.clone(),
        Expr::List(values) => format!("[{} ]", list(&values.elements)),
        Expr::Select(_) => "(.)".to_owned(),
        Expr::Call(call) => {
            let sign = match call.func_name.as_str() {
                operators::ADD => "+",
                operators::SUBSTRACT => "-",
                operators::MULTIPLY => "*",
                operators::DIVIDE => "/",
                operators::MODULO => "%",
                operators::EQUALS => "==",
                operators::NOT_EQUALS => "!=",
                operators::LESS => "<",
                operators::LESS_EQUALS => "<=",
                operators::GREATER => ">",
                operators::GREATER_EQUALS => ">=",
                operators::NEGATE => "neg",
                operators::LOGICAL_NOT => "not",
                operators::CONDITIONAL => "?",
                operators::IN => "in",
                sign @ (operators::LOGICAL_AND | operators::LOGICAL_OR) => {
                    return format!(
                        "({}{})",
                        sign.replace('_', ""),
                        flatten_oracle_operands(call)
                    );
                }
                function => function,
            };
            let target = call.target.iter().map(|one| format_oracle_tree(one));
            let target: String = target.map(|one| format!(" {one}")).collect();
            format!("({sign}{target}{})", list(&call.args))
        }
        other => panic!("no formula has {other:?}"),
    }
}

/// The operands of a chain of conditions, which the oracle makes a balanced tree.
fn flatten_oracle_operands(call: &CallExpr) -> String {
    let operand = |node: &IdedExpr| match &node.expr {
        Expr::Call(inner) if inner.func_name == call.func_name => flatten_oracle_operands(inner),
        _ => format!(" {}", format_oracle_tree(node)),
    };
    call.args.iter().map(operand).collect()
}

/// What both read of a source, when it gets as far as the parser.
fn assert_agreement(source: &str) -> Result<(), TestCaseError> {
    let Ok(tokens) = scan_tokens(source) else {
        return Ok(());
    };
    if shape::check_token_order(&tokens, &|_| true).is_err() {
        return Ok(());
    }
    let ours = parse(&tokens).map(|tree| format_tree(&tree, &tokens)).ok();
    let written = tokens_for_oracle(&tokens);
    let parser = Env::default().with_optional_support(false).parser();
    let theirs = parser
        .parse(&written)
        .map(|tree| format_oracle_tree(&tree))
        .ok();
    prop_assert_eq!(ours, theirs, "{} for the oracle {}", source, written);
    Ok(())
}

/// Formulas of all that the language has, with as few brackets as happen to come.
fn expression_strategy() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        select(vec![
            "spend",
            "first_name",
            "{First order}",
            "{in}",
            "TRUE",
            "false",
            "null",
            "TODAY()",
            "r'\\d+'",
            "'''it's'''",
        ])
        .prop_map(str::to_owned),
        select(vec!["0", "7", "-2.5", ".5", "1e3", "- 4", "2E-2"]).prop_map(str::to_owned),
        "[a-cé🎂\u{1}]{0,3}".prop_map(|text| format!("'{text}'")),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let operators = vec![
            "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "in", "IN",
        ];
        let signs = vec!["-", "!", "--", "!!", "- - -"];
        let pair = (inner.clone(), select(operators), inner.clone());
        let choice = (inner.clone(), inner.clone(), inner.clone());
        prop_oneof![
            5 => pair.prop_map(|(left, sign, right)| format!("{left} {sign} {right}")),
            1 => (select(signs), inner.clone()).prop_map(|(sign, one)| format!("{sign}{one}")),
            1 => inner.clone().prop_map(|one| format!("({one})")),
            1 => choice.prop_map(|(one, two, three)| format!("{one} ? {two} : {three}")),
            1 => vec(inner.clone(), 1..4).prop_map(|list| format!("x in [{}]", list.join(", "))),
            1 => vec(inner.clone(), 0..4).prop_map(|list| format!("LEFT({})", list.join(", "))),
            1 => (inner.clone(), vec(inner.clone(), 0..2))
                .prop_map(|(one, list)| format!("{one}.trim({})", list.join(", "))),
            1 => inner.prop_map(|one| format!("{one}.name")),
        ]
    })
}

/// Tokens that an expression may get in, or instead of one of its own.
const STRAY: [&str; 20] = [
    "+", "-", "!", "*", "==", "&&", "||", "in", "?", ":", ",", ".", "(", ")", "[", "]", "1", "x",
    "true", "f(",
];

/// An expression with some of its tokens gone, doubled, replaced or joined by others.
fn mutated_strategy() -> impl Strategy<Value = String> {
    let change = (any::<Index>(), 0..4_u8, select(STRAY.to_vec()));
    (expression_strategy(), vec(change, 1..4)).prop_map(|(source, changes)| {
        let mut words: Vec<String> = scan_tokens(&source)
            .unwrap_or_default()
            .into_iter()
            .map(|token| token.source)
            .collect();
        for (place, change, stray) in changes {
            if words.is_empty() {
                break;
            }
            let at = place.index(words.len());
            match change {
                0 => drop(words.remove(at)),
                1 => words.insert(at, words[at].clone()),
                2 => words[at] = stray.to_owned(),
                _ => words.insert(at, stray.to_owned()),
            }
        }
        words.join(" ")
    })
}

/// Values and operators by turns, which mostly gets past the order of the tokens.
fn alternating_strategy() -> impl Strategy<Value = String> {
    let values = vec![
        "1",
        "-1",
        "- - 1",
        "x",
        "!x",
        "-x",
        "!-x",
        "-!x",
        "(1)",
        "(1, 2)",
        "[1, 2]",
        "f()",
        "f(1, x)",
        "x.f()",
        "x.y",
        "x.f().g(1)",
        "(x ? 1 : 2)",
        "(x ? 1, 2)",
        "-1.f()",
        "--1.f()",
        "\"a\"",
        "true",
        "null",
        "{First order}",
        "[[1]]",
    ];
    let operators = vec![
        "+",
        "-",
        "*",
        "/",
        "%",
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "&&",
        "||",
        "in",
        ".",
        "?",
        ":",
        "? 1 :",
        "? x ? 1 : 2 :",
    ];
    (
        vec((select(values), select(operators)), 0..8),
        select(vec!["1", "x"]),
    )
        .prop_map(|(pairs, last)| {
            let pairs = pairs
                .into_iter()
                .map(|(value, operator)| format!("{value} {operator} "));
            pairs.collect::<String>() + last
        })
}

/// Runs a property where the oracle has stack enough.
fn run_on_large_stack<S: Strategy<Value = String> + 'static>(strategy: fn() -> S) {
    let run = move || {
        let mut runner = TestRunner::new(ProptestConfig {
            cases: 2_000,
            ..ProptestConfig::default()
        });
        runner
            .run(&strategy(), |source| assert_agreement(&source))
            .unwrap_or_else(|failure| panic!("{failure}"));
    };
    let thread = std::thread::Builder::new().stack_size(ORACLE_STACK_BYTES);
    thread.spawn(run).unwrap().join().unwrap();
}

#[test]
fn expressions_are_read_as_by_the_oracle() {
    run_on_large_stack(expression_strategy);
}

#[test]
fn mutated_expressions_are_read_or_refused_as_by_the_oracle() {
    run_on_large_stack(mutated_strategy);
}

#[test]
fn values_and_operators_by_turns_are_read_or_refused_as_by_the_oracle() {
    run_on_large_stack(alternating_strategy);
}
