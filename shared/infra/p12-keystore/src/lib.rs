//! Stands in for the crate of this name, which the broker's client links to read client certificates from PKCS #12 files.
//!
//! We show the broker a user and a password and never such a file, and the client has no feature to leave it out. The
//! crate brings 30 others into every program, with RC2, DES, SHA-1 and three readers of ASN.1 among them. So the
//! workspace puts this in its place: what the client calls is there, and refuses.

use std::error::Error;
use std::fmt;

/// Why nothing was read: nothing ever is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedKeyStore;

impl fmt::Display for UnsupportedKeyStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("client certificates in PKCS #12 files are not supported")
    }
}

impl Error for UnsupportedKeyStore {}

/// The contents of a file. There is none, so there is no value of this type.
#[derive(Clone, Copy, Debug)]
pub enum KeyStore {}

/// A private key with its certificates. There is none either.
#[derive(Clone, Copy, Debug)]
pub enum PrivateKeyChain {}

/// A certificate. There is none either.
#[derive(Clone, Copy, Debug)]
pub enum Certificate {}

impl KeyStore {
    /// Refuses to read a file.
    ///
    /// # Errors
    /// Always.
    pub fn from_pkcs12(_contents: &[u8], _password: &str) -> Result<Self, UnsupportedKeyStore> {
        Err(UnsupportedKeyStore)
    }

    /// The first key with its alias.
    pub fn private_key_chain(&self) -> Option<(&str, &PrivateKeyChain)> {
        match *self {}
    }
}

impl PrivateKeyChain {
    /// Its certificates.
    pub fn chain(&self) -> &[Certificate] {
        match *self {}
    }

    /// The key as PKCS #8.
    pub fn key(&self) -> &[u8] {
        match *self {}
    }
}

impl Certificate {
    /// The certificate as DER.
    pub fn as_der(&self) -> &[u8] {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_read() {
        let refused = match KeyStore::from_pkcs12(b"", "") {
            Ok(contents) => match contents {},
            Err(refused) => refused,
        };
        assert_eq!(
            refused.to_string(),
            "client certificates in PKCS #12 files are not supported"
        );
    }
}
