-- The address book: one per team. Built-in columns are columns; the others are keys of "custom".

CREATE TABLE address_columns (
    team_id    uuid NOT NULL REFERENCES teams,
    column_id  uuid NOT NULL,
    name       text NOT NULL,
    -- The name folded: two names that fold alike are one column.
    name_key   text NOT NULL,
    type       text NOT NULL CHECK (type IN ('text', 'number', 'date', 'yes_no')),
    -- Who fills it: senders and imports, a formula, or a language model.
    kind       text NOT NULL DEFAULT 'custom' CHECK (kind IN ('custom', 'formula', 'ai')),
    -- Who made it. Only those made over the API count against the team's limit.
    source     text NOT NULL CHECK (source IN ('owner', 'api', 'integration')),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, column_id),
    UNIQUE (team_id, name_key)
);

-- entry_id is derived from the verified address and the name, so that a send finds or makes the entry
-- without asking first; address_id from the address alone.
CREATE TABLE address_entries (
    team_id      uuid NOT NULL,
    entry_id     uuid NOT NULL,
    address_id   uuid NOT NULL,
    first_name   text NOT NULL,
    last_name    text NOT NULL,
    address_1    text NOT NULL,
    address_2    text NOT NULL,
    city         text NOT NULL,
    state        text NOT NULL,
    zip          text NOT NULL,
    plus4        text,
    -- How far the address was verified.
    verification text NOT NULL,
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
    PRIMARY KEY (team_id, entry_id)
);
