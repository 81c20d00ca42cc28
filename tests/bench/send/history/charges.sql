-- One charge for each 5000 cards, numbered in time over the last two years. Those of even charges in the first half and
-- odd ones in the second are of the campaign that is measured, so that each entry is in it once; the others are spread
-- over seven more. Ids of charges and cards grow with time, as those that the services make.
INSERT INTO charges (team_id, charge_id, campaign_id, step, kind, state, amount_cents, mailpieces, payment, created_at,
    settled_at)
SELECT team_id, lpad(to_hex(charge), 32, '0')::uuid,
    'PA-BENCH' || CASE WHEN (charge + charge / 500) % 2 = 0 THEN 0 ELSE 1 + charge % 7 END,
    1, 'send', 'settled', 5000 * 79, 5000, 'balance', at, at
FROM generate_series(0, 999) charge, teams,
    LATERAL (SELECT now() - interval '2 years' + charge * interval '17 hours' AS at) AS charged;
