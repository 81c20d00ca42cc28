-- Cards 0 to 4999999: two for each entry, one of them of the measured campaign; see charges.sql.
INSERT INTO mailpieces (team_id, mailpiece_id, campaign_id, step, charge_id, entry_id, address_id, first_name, last_name, line_1,
    line_2, city, state, zip, verification, design_id, design_version, product, postage, price_cents, mail_by_date,
    created_at, code)
SELECT design.team_id, lpad(to_hex(card), 32, '0')::uuid,
    'PA-BENCH' || CASE WHEN (charge + charge / 500) % 2 = 0 THEN 0 ELSE 1 + charge % 7 END,
    1, lpad(to_hex(charge), 32, '0')::uuid, earlier_entry(zip, entry), earlier_address(zip, entry), 'Pat',
    'Earlier' || entry, entry || ' Former St', '', 'Austin', 'TX', zip, 'zip', design.design_id, 1, 'postcard_4x6',
    'standard', 79, at::date, at,
    -- Two characters of the batch, eight that look random: an odd multiple of the number, so that none comes twice.
    left(md5(charge::text), 2) || lpad(to_hex(card * 2654435761 % 4294967296), 8, '0')
FROM designs design, generate_series(0, 4999999) card
    CROSS JOIN LATERAL (SELECT card / 5000 AS charge, card % 2500000 AS entry) AS numbers
    JOIN earlier_zips ON position = 1 + entry % (SELECT count(*) FROM earlier_zips)
    CROSS JOIN LATERAL (SELECT now() - interval '2 years' + charge * interval '17 hours' AS at) AS made;
