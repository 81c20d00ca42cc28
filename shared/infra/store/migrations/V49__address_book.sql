-- The address book, one for each team: its columns, its entries, and values that formulas and language models give.

-- A column of a team's address book beside the built-in ones. Formula columns are computed when they are read and stored
-- nowhere: a change of a formula changes this one row. AI columns are written by a language model in the background, into
-- the entries' "custom" like values that were sent.
CREATE TABLE address_columns (
    team_id      uuid NOT NULL REFERENCES teams,
    column_id    uuid NOT NULL,
    name         text NOT NULL,
    -- The name folded: two names that fold alike are one column.
    name_key     text NOT NULL,
    type         text NOT NULL CHECK (type IN ('text', 'number', 'date', 'yes_no')),
    -- Who fills it: senders and imports, a formula, or a language model.
    kind         text NOT NULL DEFAULT 'custom' CHECK (kind IN ('custom', 'formula', 'ai')),
    -- Who made it. Only those made over the API count against the team's limit.
    source       text NOT NULL CHECK (source IN ('owner', 'api', 'integration')),
    created_at   timestamptz NOT NULL,
    -- Of a formula column; NULL while it has none.
    formula      text,
    -- Of an AI column; NULL while it has none.
    prompt       text,
    -- An AI column whose prompt is new: entries up to this one have been queued. NULL when all have.
    queued_up_to uuid,
    -- When the prompt was new. What became due since then is asked with it anyway.
    prompted_at  timestamptz,
    -- The types of the columns that the formula uses, by folded name, as they were when it was saved: an integration may
    -- declare another type, over which the formula would mean something else. NULL where that is not known.
    formula_uses jsonb,
    -- A locked column keeps its type whatever an integration declares.
    is_locked    boolean NOT NULL DEFAULT false,
    PRIMARY KEY (team_id, column_id),
    UNIQUE (team_id, name_key),
    CONSTRAINT address_columns_formula CHECK (formula IS NULL OR kind = 'formula'),
    CONSTRAINT address_columns_prompt CHECK (prompt IS NULL OR kind = 'ai')
);
-- The few columns whose entries are being queued.
CREATE INDEX address_columns_to_queue ON address_columns (team_id, column_id) WHERE queued_up_to IS NOT NULL;

-- Who gave a formula column which formula, for people who ask why a value has changed. The newest changes of each column
-- are kept.
CREATE TABLE formula_changes (
    team_id          uuid NOT NULL REFERENCES teams,
    -- The request that made the change: delivered again, it is known by it.
    request_id       uuid NOT NULL,
    -- The column's folded name.
    name_key         text NOT NULL,
    -- The key that was used, for a change over the Formula MCP server.
    key_id           uuid REFERENCES api_keys,
    formula          text NOT NULL,
    -- NULL when the column was new.
    previous_formula text,
    changed_at       timestamptz NOT NULL,
    -- The member's name, for a change in the console.
    user_name        text,
    PRIMARY KEY (team_id, request_id),
    CONSTRAINT formula_changes_made_by CHECK (num_nonnulls(key_id, user_name) = 1)
);
-- A column's history, and which of it is too old to keep.
CREATE INDEX formula_changes_by_column ON formula_changes (team_id, name_key, changed_at, request_id);

-- An entry of the address book: a person at an address. Built-in columns are columns; the others are keys of "custom".
CREATE TABLE address_entries (
    team_id      uuid NOT NULL,
    -- Derived from the verified address and the name, so that a send finds or makes the entry without asking first.
    entry_id     uuid NOT NULL,
    -- Derived from the verified address alone, as in address_points.
    address_id   uuid NOT NULL,
    first_name   text NOT NULL,
    last_name    text NOT NULL,
    -- The verified address.
    address_1    text NOT NULL,
    address_2    text NOT NULL,
    city         text NOT NULL,
    state        text NOT NULL,
    zip          text NOT NULL,
    plus4        text,
    -- How far the address was verified.
    verification text NOT NULL,
    -- Degrees, WGS 84; NULL when not known.
    latitude     double precision,
    longitude    double precision,
    email        text NOT NULL DEFAULT '',
    phone        text NOT NULL DEFAULT '',
    organization text NOT NULL DEFAULT '',
    -- As sent, and as read; the year is often unknown.
    birthday     text NOT NULL DEFAULT '',
    birth_month  smallint CHECK (birth_month BETWEEN 1 AND 12),
    birth_day    smallint CHECK (birth_day BETWEEN 1 AND 31),
    birth_year   smallint,
    -- Values as sent, by folded column name.
    custom       jsonb NOT NULL DEFAULT '{}',
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    -- The unit of the delivery line that the sender had put in address_2: it prints on the line, and is told where it
    -- was sent. '' when there was none.
    unit_apart   text NOT NULL DEFAULT '',
    PRIMARY KEY (team_id, entry_id)
);

-- What people look entries up by: last and first name in lower case. An index over address_entries would double the time
-- of a large send, for such texts lie anywhere in it; so the mailer writes this table behind a request's back
-- (recipients_unsearched). A name never changes, for the entry's id is made of it.
CREATE TABLE entry_search (
    team_id  uuid NOT NULL,
    key      text COLLATE "C" NOT NULL,
    entry_id uuid NOT NULL,
    PRIMARY KEY (team_id, key, entry_id)
);

-- A value of an AI column that a language model is to write, is writing or has written.
--
--   waiting ──answer──▶ written | blank      any of them ──the entry or the prompt changes──▶ waiting
CREATE TABLE ai_cells (
    team_id      uuid NOT NULL,
    -- The column's folded name.
    name_key     text NOT NULL,
    entry_id     uuid NOT NULL,
    state        text NOT NULL CHECK (state IN ('waiting', 'written', 'blank')),
    -- Why there is no value, or not yet. NULL when there is nothing to say.
    reason       text,
    -- Calls that failed since it began to wait.
    attempts     integer NOT NULL DEFAULT 0,
    -- When to ask.
    due_at       timestamptz NOT NULL,
    -- The worker that asks; NULL when none does.
    lease_id     uuid,
    leased_until timestamptz,
    PRIMARY KEY (team_id, name_key, entry_id)
);
CREATE INDEX ai_cells_due ON ai_cells (due_at) WHERE state = 'waiting';

-- Answers of language models by the digest of what was asked: the same question is asked once.
CREATE TABLE ai_answers (
    team_id uuid NOT NULL,
    digest  bytea NOT NULL,
    answer  text NOT NULL,
    made_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, digest)
);
-- Forgetting old answers.
CREATE INDEX ai_answers_by_age ON ai_answers (made_at);

-- Characters asked and answered, by team and UTC day. They are taken before the call: a killed worker's calls count.
CREATE TABLE ai_spending (
    team_id    uuid NOT NULL,
    -- UTC.
    day        date NOT NULL,
    characters bigint NOT NULL,
    PRIMARY KEY (team_id, day)
);
