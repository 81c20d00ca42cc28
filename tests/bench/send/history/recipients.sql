-- The recipient of each card of mailpieces.sql.
INSERT INTO recipients (team_id, campaign_id, entry_id, address_id, first_name, last_name, address, reference, status,
    charge_id, received_at)
SELECT team_id, 'PA-BENCH' || CASE WHEN (charge + charge / 500) % 2 = 0 THEN 0 ELSE 1 + charge % 7 END,
    earlier_entry(zip, entry), earlier_address(zip, entry), 'Pat', 'Earlier' || entry,
    entry || ' Former St, Austin, TX ' || zip, 'earlier-' || entry, 'mailed', lpad(to_hex(charge), 32, '0')::uuid,
    now() - interval '2 years' + charge * interval '17 hours'
FROM teams, generate_series(0, 4999999) card
    CROSS JOIN LATERAL (SELECT card / 5000 AS charge, card % 2500000 AS entry) AS numbers
    JOIN earlier_zips ON position = 1 + entry % (SELECT count(*) FROM earlier_zips);
