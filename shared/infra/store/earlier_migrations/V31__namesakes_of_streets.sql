-- Streets are looked for by name in a ZIP and in the ZIPs around it: a street that stands nearby as it was written is the
-- one that was meant, and no other is taken for it.
CREATE INDEX address_streets_by_name_and_place ON address_streets (name_key, zip, street_key);
DROP INDEX address_streets_by_name;

-- What was confirmed of return addresses before may have been another household.
TRUNCATE return_addresses;
