-- One campaign's million recipients, one in ten not mailed, over the last hundred days; each with its entry.
CREATE TEMP TABLE seeded AS
SELECT team_id, number, earlier_entry(zip, number) AS entry_id, earlier_address(zip, number) AS address_id, zip,
    lpad(to_hex(number / 5000 + 1), 32, '0')::uuid AS charge_id, 'Pat' AS first_name,
    (ARRAY['Miles', 'Reader', 'Ortiz', 'Brooks', 'Hall', 'Nguyen', 'Marsh', 'Whitaker'])[1 + number % 8] || number AS last_name,
    number || ' Former St' AS street,
    CASE WHEN number % 10 = 0 THEN (ARRAY['filtered_conditions', 'invalid_address', 'duplicate_recent'])[1 + number / 10 % 3] END AS reason,
    now() - (199 - number / 5000) * interval '12 hours' AS received_at
FROM teams, generate_series(0, 999999) number
    JOIN earlier_zips ON position = 1 + number % (SELECT count(*) FROM earlier_zips);

INSERT INTO charges (team_id, charge_id, campaign_id, step, kind, state, amount_cents, mailpieces, payment, created_at, settled_at)
SELECT team_id, charge_id, 'PA-BENCH0', 1, 'send', 'settled', count(*) * 79, count(*), 'balance', min(received_at), min(received_at)
FROM seeded WHERE reason IS NULL GROUP BY team_id, charge_id;

INSERT INTO address_entries (team_id, entry_id, address_id, first_name, last_name, address_1, address_2, city, state, zip,
    verification, email, custom, created_at, updated_at)
SELECT team_id, entry_id, address_id, first_name, last_name, street, '', 'Austin', 'TX', zip, 'zip',
    'reader' || number || '@example.com', '{"visits": "17", "loyalty_tier": "gold"}', received_at, received_at
FROM seeded;

INSERT INTO recipients (team_id, campaign_id, entry_id, address_id, first_name, last_name, address, reference, status,
    reason, charge_id, received_at)
SELECT team_id, 'PA-BENCH0', entry_id, address_id, first_name, last_name, street || ', Austin, TX ' || zip, 'r' || number,
    CASE WHEN reason IS NULL THEN 'mailed' ELSE 'not_mailed' END, reason, CASE WHEN reason IS NULL THEN charge_id END,
    received_at
FROM seeded;

INSERT INTO mailpieces (team_id, mailpiece_id, campaign_id, step, charge_id, entry_id, address_id, first_name, last_name, line_1,
    line_2, city, state, zip, verification, design_id, design_version, product, postage, price_cents, mail_by_date,
    created_at, code)
SELECT design.team_id, lpad(to_hex(number), 32, '0')::uuid, 'PA-BENCH0', 1, charge_id, entry_id, address_id, first_name,
    last_name, street, '', 'Austin', 'TX', zip, 'zip', design_id, 1, 'postcard_4x6', 'standard', 79, received_at::date,
    received_at, left(md5(charge_id::text), 2) || lpad(to_hex(number * 2654435761 % 4294967296), 8, '0')
FROM seeded JOIN designs design USING (team_id) WHERE reason IS NULL;

INSERT INTO recipient_search (team_id, campaign_id, key, entry_id)
SELECT team_id, 'PA-BENCH0', lower(last_name || ' ' || first_name), entry_id FROM seeded
UNION ALL SELECT team_id, 'PA-BENCH0', lower(street || ', Austin, TX ' || zip), entry_id FROM seeded;

INSERT INTO entry_search (team_id, key, entry_id)
SELECT team_id, lower(last_name || ' ' || first_name), entry_id FROM seeded;

INSERT INTO campaign_days (team_id, day, campaign_id, figure, slot, amount)
SELECT team_id, received_at::date, 'PA-BENCH0', coalesce(reason, 'mailed'), 0, count(*) FROM seeded GROUP BY 1, 2, 4;

INSERT INTO do_not_mail (campaign_id, address_id, address, added_at)
SELECT 'PA-BENCH0', address_id, street || ', Austin, TX ' || zip, now() FROM seeded WHERE number < 100000;

INSERT INTO activities (team_id, activity_id, happened_at, actor_name, action, subject)
SELECT team_id, gen_random_uuid(), received_at, 'Ada', 'key.created', 'Key ' || number FROM seeded WHERE number < 100000;

UPDATE campaigns SET committed_cents = 900000 * 79::bigint WHERE campaign_id = 'PA-BENCH0';
