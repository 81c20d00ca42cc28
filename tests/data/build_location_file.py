"""Writes location.mmdb, the made-up location file of the end-to-end tests (pip install mmdb_writer netaddr)."""

import sys

from mmdb_writer import MMDBWriter
from netaddr import IPSet

writer = MMDBWriter(6, "Pillarbox-Test", languages=["en"], ipv4_compatible=True, float_type="f64")
# MaxMind's layout, and the flat one of files made from DB-IP's data.
writer.insert_network(
    IPSet(["1.2.3.0/24"]),
    {
        "city": {"names": {"en": "Austin"}},
        "subdivisions": [{"names": {"en": "Texas"}}],
        "location": {"latitude": 30.2672, "longitude": -97.7431},
    },
)
writer.insert_network(
    IPSet(["2001:db8:7::/48"]),
    {"city": "Reno", "state1": "Nevada", "latitude": 39.5296, "longitude": -119.8138},
)
writer.to_db_file(sys.argv[1])
