//! Which addresses may be connected to, and how.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ipnet::IpNet;
use url::Host;

use crate::address::is_public;
use crate::target::TargetUrl;

/// Time to resolve a name.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Addresses of one name that are looked at.
const ADDRESSES: usize = 16;

/// What may be connected to: the public internet over https, and networks that the operator has named, for
/// development and tests, over plain http too.
#[derive(Debug, Clone, Default)]
pub struct TargetPolicy {
    allowed: Vec<IpNet>,
}

/// Why a target may not be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TargetPolicyError {
    /// The URL does not begin with `https://`.
    #[error("the URL must begin with https://")]
    NotHttps,
    /// Its host is not on the public internet.
    #[error("the host is not on the public internet")]
    NotPublic,
    /// Its host has no address.
    #[error("the host's name cannot be resolved")]
    Unresolved,
}

impl TargetPolicy {
    /// The public internet, and these networks besides.
    pub fn new(allowed: &[IpNet]) -> Self {
        Self {
            allowed: allowed.to_vec(),
        }
    }

    /// Resolves the target's host and returns the addresses that may be connected to now.
    ///
    /// # Errors
    /// [`TargetPolicyError`] when there is none.
    pub async fn resolve(&self, target: &TargetUrl) -> Result<Vec<SocketAddr>, TargetPolicyError> {
        match target.host() {
            Host::Ipv4(address) => self.filter_permitted(target, [IpAddr::V4(*address)]),
            Host::Ipv6(address) => self.filter_permitted(target, [IpAddr::V6(*address)]),
            Host::Domain(name) => {
                let found = tokio::net::lookup_host((name.as_str(), target.port()));
                let found = tokio::time::timeout(RESOLVE_TIMEOUT, found).await;
                let found = found
                    .ok()
                    .and_then(Result::ok)
                    .ok_or(TargetPolicyError::Unresolved)?;
                self.filter_permitted(target, found.take(ADDRESSES).map(|address| address.ip()))
            }
        }
    }

    /// Of a target's addresses, those that may be connected to.
    fn filter_permitted(
        &self,
        target: &TargetUrl,
        found: impl IntoIterator<Item = IpAddr>,
    ) -> Result<Vec<SocketAddr>, TargetPolicyError> {
        let mut refusal = TargetPolicyError::Unresolved;
        let mut permitted = Vec::new();
        for address in found {
            match self.check_address(target, address.to_canonical()) {
                Ok(()) => permitted.push(SocketAddr::new(address.to_canonical(), target.port())),
                Err(reason) => refusal = reason,
            }
        }
        if permitted.is_empty() {
            Err(refusal)
        } else {
            Ok(permitted)
        }
    }

    fn check_address(&self, target: &TargetUrl, address: IpAddr) -> Result<(), TargetPolicyError> {
        if self
            .allowed
            .iter()
            .any(|network| network.contains(&address))
        {
            return Ok(());
        }
        if !is_public(address) {
            return Err(TargetPolicyError::NotPublic);
        }
        if target.is_https() {
            Ok(())
        } else {
            Err(TargetPolicyError::NotHttps)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter_addresses(
        allowed: &[&str],
        url: &str,
        found: &[&str],
    ) -> Result<Vec<String>, TargetPolicyError> {
        let allowed: Vec<IpNet> = allowed
            .iter()
            .map(|network| network.parse().unwrap())
            .collect();
        let found: Vec<IpAddr> = found
            .iter()
            .map(|address| address.parse().unwrap())
            .collect();
        let addresses =
            TargetPolicy::new(&allowed).filter_permitted(&TargetUrl::parse(url).unwrap(), found)?;
        Ok(addresses.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn of_a_names_addresses_only_the_public_ones_are_connected_to() {
        let url = "https://example.com/hook";
        assert_eq!(
            filter_addresses(&[], url, &["10.0.0.1", "8.8.8.8"]).unwrap(),
            ["8.8.8.8:443"]
        );
        assert_eq!(
            filter_addresses(&[], url, &["127.0.0.1", "::1"]),
            Err(TargetPolicyError::NotPublic)
        );
        assert_eq!(
            filter_addresses(&[], url, &[]),
            Err(TargetPolicyError::Unresolved)
        );
        assert_eq!(
            filter_addresses(&[], "http://example.com/", &["8.8.8.8"]),
            Err(TargetPolicyError::NotHttps)
        );
    }

    #[test]
    fn a_named_network_passes_and_takes_plain_http() {
        let allowed = ["127.0.0.0/8"];
        assert_eq!(
            filter_addresses(&allowed, "http://a.test:81/", &["127.0.0.1"]).unwrap(),
            ["127.0.0.1:81"]
        );
        assert_eq!(
            filter_addresses(&allowed, "http://a.test/", &["::ffff:127.0.0.1"]).unwrap(),
            ["127.0.0.1:80"]
        );
        assert_eq!(
            filter_addresses(&allowed, "http://a.test/", &["10.0.0.1"]),
            Err(TargetPolicyError::NotPublic)
        );
    }

    #[tokio::test]
    async fn an_address_in_place_of_a_name_is_checked_in_every_notation() {
        for host in [
            "127.0.0.1",
            "127.1",
            "127.0.0.1.",
            "2130706433",
            "0x7f000001",
            "0x7f.0.0.1",
            "0177.0.0.1",
            "017700000001",
            "1２7.0.0.1",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[fe80::1]",
            "0",
            "169.254.169.254",
            "0xa9fea9fe",
            "[fd00:ec2::254]",
            "localhost",
            "localhost.",
        ] {
            let target = TargetUrl::parse(&format!("https://{host}/")).unwrap();
            assert_eq!(
                TargetPolicy::default().resolve(&target).await,
                Err(TargetPolicyError::NotPublic),
                "{host}"
            );
        }
    }
}
