//! What everything is made of: ids, keys, money, names, codes and the limits of the contract. Pure.

pub mod id;
pub mod idempotency;
pub mod key;
pub mod limits;
pub mod mailpiece_state;
pub mod money;
pub mod name;
pub mod scan;
