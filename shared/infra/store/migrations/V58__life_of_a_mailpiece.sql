-- What happens to a mailpiece between its charge and its recipient: it is held or cancelled, waits for its day, is printed,
-- and is seen by the post.

-- ---- campaigns --------------------------------------------------------------------------------------------------------

ALTER TABLE campaigns
    -- Minutes from the charge of a mailpiece in which it can be cancelled and does not print; NULL is the installation's setting.
    ADD COLUMN cancel_minutes integer CHECK (cancel_minutes BETWEEN 0 AND 10080),
    -- While it is set, none of the campaign's queued mailpieces prints.
    ADD COLUMN held_at timestamptz,
    -- Whether an address that comes onto its do-not-mail list, or is removed from it, has its queued mailpieces cancelled.
    ADD COLUMN cancels_unwanted boolean NOT NULL DEFAULT false,
    -- Hours without a scan of the post after which a mailpiece in the mail counts as stalled; NULL is the installation's setting.
    ADD COLUMN stalled_hours integer CHECK (stalled_hours > 0),
    -- Whether an address from which a mailpiece came back is mailed again.
    ADD COLUMN mails_returned boolean NOT NULL DEFAULT false;

-- ---- mailpieces -------------------------------------------------------------------------------------------------------

ALTER TABLE mailpieces
    -- It does not print before; NULL is at once.
    ADD COLUMN print_after timestamptz,
    -- Out of the queue: until it is released (held), until a mailer cancels it, for nobody wants it any more (unwanted), or for good, its
    -- price given back (cancelled).
    ADD COLUMN withheld text,
    -- Rows from before have the column empty, so nothing has to be read.
    ADD CONSTRAINT mailpieces_withheld_check CHECK (withheld IN ('held', 'unwanted', 'cancelled')) NOT VALID,
    -- What is withheld is in no print run, whichever program claims it.
    ADD CONSTRAINT mailpieces_withheld_unprinted CHECK (withheld IS NULL OR print_run_id IS NULL) NOT VALID;

-- The queue without what is withheld.
DROP INDEX mailpieces_queued;
CREATE INDEX mailpieces_queued ON mailpieces (product, mail_by_date)
    WHERE print_run_id IS NULL AND print_problem IS NULL AND withheld IS NULL;
-- What a campaign's release gives back to the queue.
CREATE INDEX mailpieces_held ON mailpieces (team_id, campaign_id, mailpiece_id) WHERE withheld = 'held';
-- What a mailer still has to cancel.
CREATE INDEX mailpieces_unwanted ON mailpieces (team_id, campaign_id, mailpiece_id) WHERE withheld = 'unwanted';

-- A fact of one mailpiece. What all mailpieces of a charge or a print run have in common stands with the charge and the run.
CREATE TABLE mailpiece_events (
    team_id      uuid NOT NULL,
    mailpiece_id uuid NOT NULL,
    -- Made from what it tells of for a scan of the post, so that a scan counts once however often it is imported.
    event_id     uuid NOT NULL,
    -- What the mailpiece became by it; "queued" for one that was released.
    state        text NOT NULL CHECK (state IN ('queued', 'held', 'cancelled', 'printing', 'printed', 'entered', 'in_transit',
                     'out_for_delivery', 'delivered', 'forwarded', 'returned', 'stalled')),
    -- "scanned": the post saw it. "reported": somebody or a program of ours did it, or says so.
    basis        text NOT NULL CHECK (basis IN ('scanned', 'reported')),
    -- Who: "api", "console", "operator", "unwanted", "usps", "system".
    source       text NOT NULL,
    -- When it happened.
    occurred_at  timestamptz NOT NULL,
    -- When we heard of it.
    recorded_at  timestamptz NOT NULL,
    -- The post's operation code and place, or why, in words; '' for nothing.
    detail       text NOT NULL DEFAULT '',
    PRIMARY KEY (team_id, mailpiece_id, event_id)
);
-- Forgetting old ones.
CREATE INDEX mailpiece_events_by_recording ON mailpiece_events USING brin (recorded_at);

-- How far a mailpiece in the mail is: the furthest of what its events tell. Only those have a row that the post, or a report
-- of the handover, told of; it stays when events are forgotten.
CREATE TABLE mailpiece_progress (
    team_id      uuid NOT NULL,
    mailpiece_id uuid NOT NULL,
    campaign_id  text NOT NULL,
    state        text NOT NULL CHECK (state IN ('entered', 'in_transit', 'forwarded', 'out_for_delivery', 'delivered', 'returned')),
    basis        text NOT NULL CHECK (basis IN ('scanned', 'reported')),
    -- When it came to the state.
    reached_at   timestamptz NOT NULL,
    -- The latest fact, also of a state that it had already.
    seen_at      timestamptz NOT NULL,
    -- When it was found to be stalled; the next scan clears it.
    stalled_at   timestamptz,
    PRIMARY KEY (team_id, mailpiece_id)
) WITH (fillfactor = 80);
-- Looking for what has stalled.
CREATE INDEX mailpiece_progress_moving ON mailpiece_progress (seen_at)
    WHERE stalled_at IS NULL AND state IN ('entered', 'in_transit', 'forwarded', 'out_for_delivery');

-- ---- changes ----------------------------------------------------------------------------------------------------------

-- The feed 'mailpieces' tells which mailpieces have changed. Its items are mailpieces, or, by "item_kind", charges and print runs:
-- five thousand mailpieces that are charged or printed together are one item.
ALTER TABLE feed_batches
    ADD COLUMN item_kind text,
    ADD CONSTRAINT feed_batches_item_kind_check CHECK (item_kind IN ('mailpiece', 'charge', 'print_run')) NOT VALID;
-- All of a team's mailpieces, each once, in the order in which they were charged.
CREATE UNIQUE INDEX feed_batches_charges ON feed_batches (team_id, feed, position)
    WHERE item_kind = 'charge' AND position IS NOT NULL;

-- What was charged before there was a feed.
INSERT INTO feed_batches (team_id, feed, batch_id, item_ids, item_kind)
SELECT team_id, 'mailpieces', charge_id, ARRAY[charge_id], 'charge' FROM charges WHERE state = 'settled';

-- ---- money ------------------------------------------------------------------------------------------------------------

-- Money given back for mailpieces that were cancelled.
--
--   owed ──booked, or given back by the provider──▶ settled
--
-- A prepaid balance has it in the transaction that cancels; a payment provider is asked behind it, with the refund's id as the key.
CREATE TABLE refunds (
    team_id            uuid NOT NULL,
    refund_id          uuid NOT NULL,
    charge_id          uuid NOT NULL,
    campaign_id        text NOT NULL,
    mailpieces         integer NOT NULL CHECK (mailpieces > 0),
    amount_cents       bigint NOT NULL CHECK (amount_cents >= 0),
    state              text NOT NULL CHECK (state IN ('owed', 'settled')),
    -- As in charges.
    payment            text NOT NULL CHECK (payment IN ('balance', 'stripe')),
    -- The provider's id of the refund.
    payment_reference  text,
    -- As in mailpiece_events.
    source             text NOT NULL,
    created_at         timestamptz NOT NULL,
    settled_at         timestamptz,
    -- Tries begun with the provider, and when the next one is due.
    attempts           integer NOT NULL DEFAULT 0,
    due_at             timestamptz NOT NULL,
    PRIMARY KEY (team_id, refund_id),
    CHECK ((state = 'settled') = (settled_at IS NOT NULL))
);
-- What a charge has given back.
CREATE INDEX refunds_by_charge ON refunds (team_id, charge_id);
-- What a provider still has to give back.
CREATE INDEX refunds_owed ON refunds (due_at) WHERE state = 'owed';

ALTER TABLE ledger_transactions
    ADD COLUMN refund_id uuid,
    DROP CONSTRAINT ledger_transactions_kind_check,
    ADD CONSTRAINT ledger_transactions_kind_check CHECK (kind IN ('top_up', 'charge', 'refund')) NOT VALID,
    ADD CONSTRAINT ledger_transactions_refund_check CHECK ((kind = 'refund') = (refund_id IS NOT NULL)) NOT VALID;
-- One transaction for a refund, whatever is tried again.
CREATE UNIQUE INDEX ledger_transactions_by_refund ON ledger_transactions (team_id, refund_id) WHERE refund_id IS NOT NULL;
