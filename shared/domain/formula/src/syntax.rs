//! What a formula says, before its names are looked up and its types checked.

use crate::node::{AdditiveOperator, ComparisonOperator, MultiplicativeOperator};
use crate::problem::SourceSpan;
use crate::scan::FormulaToken;

/// An expression as it was written. Brackets are in its shape alone.
#[derive(Debug)]
pub(crate) struct SyntaxNode<'a> {
    pub(crate) kind: SyntaxKind<'a>,
    /// The place of its operator, its bracket, its name or its literal.
    pub(crate) span: SourceSpan,
    /// Levels of the tree from here down, at most [`MAX_SYNTAX_LEVELS`](crate::limits::MAX_SYNTAX_LEVELS).
    pub(crate) height: usize,
}

/// What an expression is. Sums, products and conditions are chains, so that a long one is as deep as a short one.
#[derive(Debug)]
pub(crate) enum SyntaxKind<'a> {
    Number(f64),
    Text(&'a str),
    YesNo(bool),
    Null,
    /// A column, by the token that names it.
    Column(&'a FormulaToken),
    /// A function with its arguments, also one written behind the first of them.
    Call(&'a FormulaToken, Vec<SyntaxNode<'a>>),
    /// `-`
    Negate(Box<SyntaxNode<'a>>),
    /// `!`
    Not(Box<SyntaxNode<'a>>),
    /// `+` and `-`, from left to right.
    Sum(Box<SyntaxNode<'a>>, Vec<ChainLink<'a, AdditiveOperator>>),
    /// `*`, `/` and `%`, from left to right.
    Product(
        Box<SyntaxNode<'a>>,
        Vec<ChainLink<'a, MultiplicativeOperator>>,
    ),
    Compare(ComparisonOperator, Box<[SyntaxNode<'a>; 2]>),
    /// `in`
    OneOf(Box<[SyntaxNode<'a>; 2]>),
    /// `&&`
    All(Vec<SyntaxNode<'a>>),
    /// `||`
    Any(Vec<SyntaxNode<'a>>),
    /// `condition ? value : other`
    Choice(Box<[SyntaxNode<'a>; 3]>),
    List(Vec<SyntaxNode<'a>>),
    /// A name behind a point, which has no meaning here. What stands before it is not kept.
    Member,
}

/// An operator and what stands behind it.
#[derive(Debug)]
pub(crate) struct ChainLink<'a, Operator> {
    pub(crate) operator: Operator,
    /// The place of the operator.
    pub(crate) sign: SourceSpan,
    pub(crate) operand: SyntaxNode<'a>,
}
