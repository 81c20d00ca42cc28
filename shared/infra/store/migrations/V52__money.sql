-- Charges, the ledger, and money on its way in.

-- A charge: the money for one batch of mailpieces.
--
--   reserved ──payment taken──▶ settled
--       └──────declined───────▶ declined (its mailpieces are gone, its budget given back)
CREATE TABLE charges (
    team_id           uuid NOT NULL,
    charge_id         uuid NOT NULL,
    campaign_id       text NOT NULL,
    step              smallint NOT NULL,
    -- What caused it: a request, the daily re-check, a later step.
    kind              text NOT NULL CHECK (kind IN ('send', 'recheck', 'step')),
    state             text NOT NULL CHECK (state IN ('reserved', 'settled', 'declined')),
    amount_cents      bigint NOT NULL CHECK (amount_cents >= 0),
    -- Mailpieces that it is for.
    pieces            integer NOT NULL CHECK (pieces > 0),
    -- How the team paid at that time.
    payment           text NOT NULL CHECK (payment IN ('balance', 'stripe')),
    -- The provider's id of the payment.
    payment_reference text,
    created_at        timestamptz NOT NULL,
    -- When it was settled or declined.
    settled_at        timestamptz,
    PRIMARY KEY (team_id, charge_id)
);
-- A campaign's charges in the order of time.
CREATE INDEX charges_by_campaign ON charges (team_id, campaign_id, created_at);
-- How much waits for payment, and for how long.
CREATE INDEX charges_unsettled ON charges (created_at) WHERE state = 'reserved';

-- The ledger is double entry: entries of a transaction sum to zero. An account's balance is kept beside its entries and
-- equals their sum.
CREATE TABLE ledger_accounts (
    team_id       uuid NOT NULL REFERENCES teams,
    -- "prepaid": what we hold for the team. "sales": what it has spent. "cash": minus what came in from outside, so that
    -- the accounts of a team sum to zero.
    account       text NOT NULL CHECK (account IN ('prepaid', 'sales', 'cash')),
    balance_cents bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (team_id, account),
    -- Nobody spends what is not there, whatever a program has computed.
    CHECK (account <> 'prepaid' OR balance_cents >= 0)
);

-- A booking. It is made and never changed.
CREATE TABLE ledger_transactions (
    team_id        uuid NOT NULL,
    transaction_id uuid NOT NULL,
    kind           text NOT NULL CHECK (kind IN ('top_up', 'charge')),
    -- One transaction for a charge, whatever is tried again.
    charge_id      uuid,
    -- What the operator gave, so that a repeated top-up counts once.
    reference      text,
    created_at     timestamptz NOT NULL,
    PRIMARY KEY (team_id, transaction_id),
    UNIQUE (team_id, charge_id),
    UNIQUE (team_id, reference),
    CHECK ((kind = 'charge') = (charge_id IS NOT NULL))
);
-- A team's top-ups: few among many charges.
CREATE INDEX ledger_top_ups ON ledger_transactions (team_id, transaction_id) WHERE kind = 'top_up';

-- What a booking adds to one account; negative for what it takes.
CREATE TABLE ledger_entries (
    team_id        uuid NOT NULL,
    transaction_id uuid NOT NULL,
    account        text NOT NULL,
    amount_cents   bigint NOT NULL CHECK (amount_cents <> 0),
    PRIMARY KEY (team_id, transaction_id, account),
    FOREIGN KEY (team_id, transaction_id) REFERENCES ledger_transactions,
    FOREIGN KEY (team_id, account) REFERENCES ledger_accounts
);

-- Money that a team says it will send. Nothing is in the ledger before the operator has booked it.
--
--   open ──a top-up with the reference is booked──▶ booked
--     └──the team has changed its mind──▶ withdrawn
CREATE TABLE top_up_requests (
    team_id      uuid NOT NULL REFERENCES teams,
    request_id   uuid NOT NULL,
    amount_cents bigint NOT NULL CHECK (amount_cents > 0),
    -- What the team writes on its payment, and the operator books it with.
    reference    text NOT NULL UNIQUE,
    state        text NOT NULL CHECK (state IN ('open', 'booked', 'withdrawn')),
    -- Who asked, by the name at that time.
    user_name    text NOT NULL,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (team_id, request_id)
);
-- What the operator waits for, of all teams.
CREATE INDEX top_up_requests_open ON top_up_requests (request_id) WHERE state = 'open';
