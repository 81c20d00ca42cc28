-- Requests, charges, cards and the ledger.

-- One send request.
--
--   claimed ──reserve──▶ reserved ──settle──▶ finished
--      └───── nothing to mail: straight ─────────▲
--
-- A request that a worker holds is leased to it; past the lease another may go on from the state.
CREATE TABLE sends (
    team_id      uuid NOT NULL,
    send_id      uuid NOT NULL,
    campaign_id  text NOT NULL,
    -- Campaign and addresses as sent: what makes a request a repeat of another.
    fingerprint  bytea NOT NULL,
    state        text NOT NULL CHECK (state IN ('claimed', 'reserved', 'finished')),
    lease_id     uuid NOT NULL,
    leased_until timestamptz NOT NULL,
    -- The whole answer as if the charge succeeds, from "reserved" on; the stored response once finished.
    response     bytea,
    -- Positions that are duplicates only of an earlier, accepted recipient of the same request.
    copies       integer[] NOT NULL DEFAULT '{}',
    mailed       integer,
    created_at   timestamptz NOT NULL,
    finished_at  timestamptz,
    PRIMARY KEY (team_id, send_id),
    CHECK ((state = 'finished') = (finished_at IS NOT NULL)),
    CHECK ((state = 'claimed') = (response IS NULL))
);
-- The answer is compressed as it is written elsewhere or not at all: it is read whole or never.
ALTER TABLE sends ALTER COLUMN response SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX sends_running ON sends (team_id, campaign_id, fingerprint) WHERE state <> 'finished';
CREATE INDEX sends_finished ON sends (team_id, campaign_id, fingerprint, finished_at DESC) WHERE state = 'finished';
CREATE INDEX sends_unfinished ON sends (leased_until) WHERE state = 'reserved';
CREATE INDEX sends_by_creation ON sends (created_at);

-- One charge: the money for one batch of cards.
--
--   reserved ──payment taken──▶ settled
--       └──────declined───────▶ declined (its cards are gone, its budget given back)
CREATE TABLE charges (
    team_id      uuid NOT NULL,
    charge_id    uuid NOT NULL,
    campaign_id  text NOT NULL,
    step         smallint NOT NULL,
    -- What caused it: a request, the daily re-check, a later step.
    kind         text NOT NULL CHECK (kind IN ('send', 'recheck', 'step')),
    state        text NOT NULL CHECK (state IN ('reserved', 'settled', 'declined')),
    amount_cents bigint NOT NULL CHECK (amount_cents >= 0),
    pieces       integer NOT NULL CHECK (pieces > 0),
    payment      text NOT NULL CHECK (payment IN ('balance', 'stripe')),
    -- The provider's id of the payment.
    payment_reference text,
    created_at   timestamptz NOT NULL,
    settled_at   timestamptz,
    PRIMARY KEY (team_id, charge_id)
);
CREATE INDEX charges_by_campaign ON charges (team_id, campaign_id, created_at);
CREATE INDEX charges_unsettled ON charges (created_at) WHERE state = 'reserved';

-- One card. It prints when its charge is settled: settling is one row, not five thousand.
CREATE TABLE pieces (
    team_id      uuid NOT NULL,
    piece_id     uuid NOT NULL,
    campaign_id  text NOT NULL,
    step         smallint NOT NULL,
    charge_id    uuid NOT NULL,
    entry_id     uuid NOT NULL,
    address_id   uuid NOT NULL,
    first_name   text NOT NULL,
    last_name    text NOT NULL,
    -- The verified form, as it prints.
    line_1       text NOT NULL,
    line_2       text NOT NULL,
    city         text NOT NULL,
    state        text NOT NULL,
    zip          text NOT NULL,
    plus4        text,
    verification text NOT NULL,
    design_id      uuid NOT NULL,
    design_version integer NOT NULL,
    product      text NOT NULL,
    postage      text NOT NULL,
    price_cents  bigint NOT NULL CHECK (price_cents >= 0),
    mail_by_date date NOT NULL,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (team_id, piece_id)
);
-- The duplicate guard: was this address mailed for this campaign, and when? Cards are made with the
-- campaign's row locked, so two requests cannot both find no answer.
CREATE INDEX pieces_by_address ON pieces (team_id, campaign_id, address_id, created_at);
CREATE INDEX pieces_by_charge ON pieces (team_id, charge_id);

-- The ledger: double entry. Entries of a transaction sum to zero; an account's balance is kept beside
-- its entries and equals their sum.
CREATE TABLE ledger_accounts (
    team_id       uuid NOT NULL REFERENCES teams,
    -- prepaid: what we hold for the team. sales: what it has spent. cash: minus what came in from
    -- outside, so that the accounts of a team sum to zero.
    account       text NOT NULL CHECK (account IN ('prepaid', 'sales', 'cash')),
    balance_cents bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (team_id, account),
    CHECK (account <> 'prepaid' OR balance_cents >= 0)
);

CREATE TABLE ledger_transactions (
    team_id        uuid NOT NULL,
    transaction_id uuid NOT NULL,
    kind           text NOT NULL CHECK (kind IN ('top_up', 'charge')),
    -- One transaction per charge, whatever is tried again.
    charge_id      uuid,
    -- What the operator gave, so that a repeated top-up counts once.
    reference      text,
    created_at     timestamptz NOT NULL,
    PRIMARY KEY (team_id, transaction_id),
    UNIQUE (team_id, charge_id),
    UNIQUE (team_id, reference),
    CHECK ((kind = 'charge') = (charge_id IS NOT NULL))
);

CREATE TABLE ledger_entries (
    team_id        uuid NOT NULL,
    transaction_id uuid NOT NULL,
    account        text NOT NULL,
    amount_cents   bigint NOT NULL CHECK (amount_cents <> 0),
    PRIMARY KEY (team_id, transaction_id, account),
    FOREIGN KEY (team_id, transaction_id) REFERENCES ledger_transactions,
    FOREIGN KEY (team_id, account) REFERENCES ledger_accounts
);
