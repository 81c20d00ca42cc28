-- What cancelling mailpieces and holding campaigns need besides V58.

ALTER TABLE campaigns
    -- What was given back for cancelled mailpieces: "committed_cents" is what charges amount to without it.
    ADD COLUMN refunded_cents bigint NOT NULL DEFAULT 0 CHECK (refunded_cents >= 0),
    -- When "held_at" was set or cleared, until its mailpieces say so too; NULL is that they do.
    ADD COLUMN hold_changed_at timestamptz,
    -- Who did it, as in mailpiece_events.
    ADD COLUMN hold_source text;
-- What is left to do after a hold or a release.
CREATE INDEX campaigns_hold_changed ON campaigns (hold_changed_at) WHERE hold_changed_at IS NOT NULL;

ALTER TABLE charges
    -- The start of the day on which its sender wants its mailpieces to begin; NULL is at once. Later steps are counted from it.
    ADD COLUMN scheduled_for timestamptz;

-- What a hold takes out of the queue, those that could not print among them.
CREATE INDEX mailpieces_unprinted ON mailpieces (team_id, campaign_id, mailpiece_id)
    WHERE print_run_id IS NULL AND withheld IS NULL;

-- A sender cancels by its own reference.
CREATE INDEX recipients_by_reference ON recipients (team_id, campaign_id, reference) WHERE reference IS NOT NULL;

-- A team's refunds: few among many charges.
CREATE INDEX ledger_refunds ON ledger_transactions (team_id, transaction_id) WHERE kind = 'refund';
