-- The entry of each two cards of mailpieces.sql.
INSERT INTO address_entries (team_id, entry_id, address_id, first_name, last_name, address_1, address_2, city, state, zip,
    verification, email, custom, created_at, updated_at)
SELECT team_id, earlier_entry(zip, entry), earlier_address(zip, entry), 'Pat', 'Earlier' || entry,
    entry || ' Former St', '', 'Austin', 'TX', zip, 'zip', 'earlier' || entry || '@example.com',
    '{"visits": "17", "loyalty_tier": "gold", "last_visit": "2024-05-06"}', now() - interval '2 years',
    now() - interval '2 years'
FROM teams, generate_series(0, 2499999) entry
JOIN earlier_zips ON position = 1 + entry % (SELECT count(*) FROM earlier_zips);
