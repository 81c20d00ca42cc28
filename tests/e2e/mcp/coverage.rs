//! The contract counts its own coverage.
