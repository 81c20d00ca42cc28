//! A quick hash for words and names.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// A table by upper-case word. Its keys are the crate's own, so that no sender can make them collide.
pub(crate) type WordMap<Value> = HashMap<&'static str, Value, BuildHasherDefault<FnvHasher>>;

/// FNV-1a, 64 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FnvHasher(u64);

impl Default for FnvHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for FnvHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 ^= u64::from(*byte);
            self.0 = self.0.wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
