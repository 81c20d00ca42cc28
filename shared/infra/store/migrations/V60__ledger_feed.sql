-- The feed 'ledger': a team's bookings in the order of their commits.

-- Notes what a statement has booked. A trigger, as on scans: it holds for whoever books, mailers of an earlier version among them.
CREATE FUNCTION ledger_note() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO feed_batches (team_id, feed, batch_id, item_ids)
    SELECT team_id, 'ledger', (array_agg(transaction_id ORDER BY transaction_id))[1],
        array_agg(transaction_id ORDER BY transaction_id)
    FROM booked GROUP BY team_id;
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_note AFTER INSERT ON ledger_transactions REFERENCING NEW TABLE AS booked
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_note();

-- What was booked before there was a feed, a thousand to a row.
INSERT INTO feed_batches (team_id, feed, batch_id, item_ids)
SELECT team_id, 'ledger', (array_agg(transaction_id ORDER BY transaction_id))[1],
    array_agg(transaction_id ORDER BY transaction_id)
FROM (
    SELECT team_id, transaction_id,
        (row_number() OVER (PARTITION BY team_id ORDER BY transaction_id) - 1) / 1000 AS portion
    FROM ledger_transactions) booked
GROUP BY team_id, portion;
