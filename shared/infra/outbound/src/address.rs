//! Which addresses are those of hosts on the public internet?

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 networks that are not global unicast (IANA's special-purpose registry), and one address inside a public
/// network that a cloud answers its own machines on.
const REFUSED_V4: [(Ipv4Addr, u32); 16] = [
    // This network, and what a host that does not know its own calls itself.
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    // Private.
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    // Shared between a carrier and its customers.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    // Loopback.
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Link-local, with the metadata services of clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    // Azure's host.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    // Private.
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    // Protocol assignments.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Documentation.
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // The former relays to 6to4.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    // Private.
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Benchmarks.
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    // Documentation.
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    // Documentation.
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast.
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    // Reserved, and broadcast.
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// Where all IPv6 global unicast addresses lie.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Networks in [`GLOBAL_V6`] that are not, or that carry an IPv4 address which another gateway would go on to.
const REFUSED_V6: [(Ipv6Addr, u32); 4] = [
    // Protocol assignments: Teredo, benchmarks, ORCHID.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    // Documentation.
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    // 6to4.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    // Documentation.
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Whether an address is global unicast. An IPv4 address mapped into IPv6 is judged as what it is; every other way
/// to carry IPv4 in IPv6 (NAT64, 6to4, Teredo, the deprecated compatible form) is refused.
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => !REFUSED_V4.iter().any(|(network, bits)| {
            let mask = u32::MAX << (32 - bits);
            address.to_bits() & mask == network.to_bits()
        }),
        IpAddr::V6(address) => {
            contains_v6(GLOBAL_V6, address)
                && !REFUSED_V6
                    .iter()
                    .any(|network| contains_v6(*network, address))
        }
    }
}

const fn contains_v6((network, bits): (Ipv6Addr, u32), address: Ipv6Addr) -> bool {
    let mask = u128::MAX << (128 - bits);
    address.to_bits() & mask == network.to_bits()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_global_unicast_addresses_are_public() {
        for (text, expected) in [
            ("8.8.8.8", true),
            ("1.1.1.1", true),
            ("100.63.255.255", true),
            ("100.128.0.0", true),
            ("172.15.255.255", true),
            ("172.32.0.0", true),
            ("168.63.129.17", true),
            ("0.0.0.0", false),
            ("0.1.2.3", false),
            ("10.0.0.1", false),
            ("100.64.0.1", false),
            ("100.100.100.200", false),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("168.63.129.16", false),
            ("169.254.169.254", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.0.0.170", false),
            ("192.0.2.1", false),
            ("192.88.99.1", false),
            ("192.168.1.1", false),
            ("198.19.255.255", false),
            ("198.51.100.7", false),
            ("203.0.113.7", false),
            ("224.0.0.1", false),
            ("239.255.255.250", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("2606:4700:4700::1111", true),
            ("2a00:1450:4001::200e", true),
            ("::ffff:8.8.8.8", true),
            ("::", false),
            ("::1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:169.254.169.254", false),
            ("::127.0.0.1", false),
            ("::8.8.8.8", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::808:808", false),
            ("64:ff9b:1::1", false),
            ("100::1", false),
            ("2001::1", false),
            ("2001:0:7f00:1::", false),
            ("2001:2::1", false),
            ("2001:20::1", false),
            ("2001:db8::1", false),
            ("2002:7f00:1::", false),
            ("2002:808:808::1", false),
            ("3fff::1", false),
            ("5f00::1", false),
            ("fc00::1", false),
            ("fd00:ec2::254", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
        ] {
            assert_eq!(is_public(text.parse().unwrap()), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn mapping_into_ipv6_changes_nothing(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            prop_assert_eq!(is_public(address.into()), is_public(address.to_ipv6_mapped().into()));
        }

        #[test]
        fn no_tunnel_to_ipv4_is_public(bits: u32) {
            let [high, low] = [(bits >> 16) as u16, bits as u16];
            for address in [
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0x2001, 0, high, low, 0, 0, 0, 0),
            ] {
                prop_assert!(!is_public(address.into()), "{}", address);
            }
        }
    }
}
