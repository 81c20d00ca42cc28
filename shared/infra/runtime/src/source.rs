//! Whom a request is counted for: its source address.

use std::net::{IpAddr, Ipv6Addr};

use axum::http::HeaderMap;
use ipnet::IpNet;

/// Hops of `X-Forwarded-For` that are looked at, from the last.
const HOPS: usize = 32;

/// The address that a request is counted for: the peer's, or, when the peer is a trusted proxy, the last hop
/// of `X-Forwarded-For` that is not one. A hop that is no address ends the search: what stands before it
/// was written by nobody we know.
pub fn source_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let mut source = peer.to_canonical();
    let hops = headers
        .get_all("x-forwarded-for")
        .iter()
        .rev()
        .flat_map(|value| {
            value
                .to_str()
                .unwrap_or_default()
                .rsplit(',')
                .map(str::trim)
                .collect::<Vec<_>>()
        });
    for hop in hops.take(HOPS) {
        if !is_trusted(source, trusted) {
            break;
        }
        let Some(address) = parse_hop(hop) else { break };
        source = address.to_canonical();
    }
    source
}

pub(crate) fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|network| network.contains(&address))
}

/// An address, perhaps with a port, as some proxies write it.
fn parse_hop(hop: &str) -> Option<IpAddr> {
    let bare = hop
        .strip_prefix('[')
        .and_then(|rest| rest.split(']').next());
    bare.unwrap_or(hop).parse().ok().or_else(|| {
        hop.parse::<std::net::SocketAddr>()
            .ok()
            .map(|address| address.ip())
    })
}

/// What the rate window of an address is called in a group of requests that are counted together. A host on IPv6 owns a /64 and can use all of it, so the network
/// is counted, not the address.
pub fn build_source_key(group: &str, address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => [group.as_bytes(), b":source4:", &address.octets()[..]].concat(),
        IpAddr::V6(address) => [group.as_bytes(), b":source6:", &network_of(address)[..]].concat(),
    }
}

fn network_of(address: Ipv6Addr) -> [u8; 8] {
    let octets = address.octets();
    std::array::from_fn(|index| octets[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_source(peer: &str, forwarded: &[&str]) -> String {
        let trusted = ["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        source_address(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn the_source_is_the_last_hop_that_is_not_a_trusted_proxy() {
        assert_eq!(find_source("203.0.113.9", &["198.51.100.1"]), "203.0.113.9");
        assert_eq!(find_source("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(find_source("10.0.0.1", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(
            find_source("10.0.0.1", &["6.6.6.6, 198.51.100.1, 10.2.3.4"]),
            "198.51.100.1"
        );
        assert_eq!(
            find_source("10.0.0.1", &["6.6.6.6", "198.51.100.1"]),
            "198.51.100.1"
        );
        assert_eq!(
            find_source("10.0.0.1", &["198.51.100.1, garbage"]),
            "10.0.0.1"
        );
        assert_eq!(
            find_source("::ffff:10.0.0.1", &["198.51.100.1:4711"]),
            "198.51.100.1"
        );
        assert_eq!(
            find_source("fd00::1", &["[2001:db8::5]:443"]),
            "2001:db8::5"
        );
    }

    #[test]
    fn an_ipv6_host_is_counted_by_its_network() {
        let subject_of = |text: &str| build_source_key("send", text.parse().unwrap());
        assert_eq!(subject_of("2001:db8::1"), subject_of("2001:db8::ffff:2"));
        assert_ne!(subject_of("2001:db8::1"), subject_of("2001:db8:0:1::1"));
        assert_ne!(subject_of("198.51.100.1"), subject_of("198.51.100.2"));
    }

    #[test]
    fn each_group_of_requests_has_windows_of_its_own() {
        let address = "198.51.100.1".parse().unwrap();
        assert_ne!(
            build_source_key("send", address),
            build_source_key("push", address)
        );
    }
}
