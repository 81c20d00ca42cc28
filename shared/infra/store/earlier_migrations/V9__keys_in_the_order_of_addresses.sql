-- Ids of addresses begin with the ZIP, so that a request's rows lie together in every index. Those made before are brought
-- into the new form, so that duplicate guard and do-not-mail lists go on knowing them: 17 bits ZIP, then 63 bits
-- of the house and 48 of the unit as they were. Ids of entries are hashes and stay: a person known before gets a
-- new entry when it is sent again.
CREATE FUNCTION zip_first(old uuid, zip text) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex(substring(bits FROM 1 FOR 64)::bit(64)::bigint), 16, '0')
        || lpad(to_hex(substring(bits FROM 65 FOR 64)::bit(64)::bigint), 16, '0'))::uuid
    FROM (SELECT coalesce(zip, '0')::integer::bit(17) || substring(hash FROM 2 FOR 63)
            || substring(hash FROM 81 FOR 48) AS bits
        FROM (SELECT ('x' || replace(old::text, '-', ''))::bit(128) AS hash) AS old_form) AS new_form
$$;

-- Those of addresses that could not be verified are of another kind, and have no entry.
UPDATE recipients SET address_id = zip_first(recipients.address_id, entry.zip)
FROM address_entries entry WHERE entry.team_id = recipients.team_id AND entry.entry_id = recipients.entry_id;
UPDATE address_entries SET address_id = zip_first(address_id, zip);
UPDATE pieces SET address_id = zip_first(address_id, zip);
UPDATE address_points SET address_id = zip_first(address_id, zip::text);
UPDATE do_not_mail SET address_id = zip_first(address_id, substring(address FROM '([0-9]{5})(?:-[0-9]{4})?$'));
UPDATE address_overrides SET address_id = zip_first(address_id, substring(address FROM '([0-9]{5})(?:-[0-9]{4})?$'));

DROP FUNCTION zip_first;
