//! The protocol's official clients and its conformance suite against the real gateway.
