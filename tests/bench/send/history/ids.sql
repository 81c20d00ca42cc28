-- Ids as the services make them: an address begins with its ZIP (17 bits), an entry with its house. Below that they are
-- hashes, of which any will do here.
CREATE TABLE earlier_zips (zip text NOT NULL, position bigint PRIMARY KEY);

CREATE FUNCTION earlier_id(zip text, entry integer, name_bits bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex((zip::bigint << 47) | (hashint8extended(entry, 1) & ((1::bigint << 47) - 1))), 16, '0')
        || lpad(to_hex(name_bits), 16, '0'))::uuid
$$;

CREATE FUNCTION earlier_address(zip text, entry integer) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT earlier_id(zip, entry, 0)
$$;

CREATE FUNCTION earlier_entry(zip text, entry integer) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT earlier_id(zip, entry, hashint8extended(entry, 2) & ((1::bigint << 48) - 1))
$$;
