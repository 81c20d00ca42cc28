//! A team with something on every page.
