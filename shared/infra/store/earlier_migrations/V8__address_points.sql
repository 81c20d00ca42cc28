-- Address points: the houses and units that exist. Imported by the operator, shared by all teams.

-- One delivery point. address_id is derived from the standardised delivery line and the ZIP: its upper half is the
-- house, its lower half the unit (zero without one), so the units of a house follow the house in the key.
CREATE TABLE address_points (
    zip         integer NOT NULL CHECK (zip BETWEEN 0 AND 99999),
    address_id  uuid NOT NULL,
    -- Place on a space-filling curve: a circle is a few ranges of it.
    cell        bigint NOT NULL,
    latitude    double precision NOT NULL,
    longitude   double precision NOT NULL,
    -- The standardised delivery line, unit included.
    line_1      text NOT NULL,
    city        text NOT NULL,
    state       text NOT NULL,
    plus4       text,
    -- Whether somebody lives there; NULL when the source does not say.
    residential boolean,
    PRIMARY KEY (zip, address_id)
);
-- Shops, offices and empty lots are no homes.
CREATE INDEX address_points_homes ON address_points (cell) WHERE residential IS NOT FALSE;

-- The streets of a ZIP that points are on. name_key is the same for streets that differ in directionals or suffix.
CREATE TABLE address_streets (
    zip             integer NOT NULL,
    street_key      bigint NOT NULL,
    name_key        bigint NOT NULL,
    predirectional  text NOT NULL,
    name            text NOT NULL,
    suffix          text NOT NULL,
    postdirectional text NOT NULL,
    PRIMARY KEY (zip, street_key)
);
CREATE INDEX address_streets_by_name ON address_streets (zip, name_key);

-- How many points a ZIP has.
CREATE TABLE address_zips (
    zip    integer PRIMARY KEY,
    points bigint NOT NULL
);

-- Addresses that the operator vouches for, whatever a verifier says.
CREATE TABLE address_overrides (
    address_id uuid PRIMARY KEY,
    -- One line, for people.
    address    text NOT NULL,
    note       text NOT NULL,
    added_at   timestamptz NOT NULL
);

-- Files of address points, known by their content. "position" is how much of the (unpacked) file is in the tables;
-- it is written in the transaction that writes the points.
CREATE TABLE address_imports (
    file_hash   bytea PRIMARY KEY CHECK (octet_length(file_hash) = 32),
    name        text NOT NULL,
    position    bigint NOT NULL,
    rows_read   bigint NOT NULL,
    rows_kept   bigint NOT NULL,
    -- Rows left out, by reason.
    skipped     jsonb NOT NULL,
    started_at  timestamptz NOT NULL,
    finished_at timestamptz
);

-- What a remote verifier answered, until it is asked again.
CREATE TABLE address_answers (
    verifier   text NOT NULL,
    -- Derived from the address as sent.
    input_id   uuid NOT NULL,
    answer     jsonb NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (verifier, input_id)
);
CREATE INDEX address_answers_by_expiry ON address_answers (expires_at);

ALTER TABLE campaigns
    -- How much of an address must be confirmed; NULL lets the verifier choose.
    ADD COLUMN strictness text CHECK (strictness IN ('zip', 'street', 'delivery_point')),
    -- Whom it mails: the recipients, or (Neighborhood Mail) the homes around them.
    ADD COLUMN kind text NOT NULL DEFAULT 'audience' CHECK (kind IN ('audience', 'neighborhood')),
    ADD COLUMN radius_metres integer CHECK (radius_metres > 0),
    ADD COLUMN homes_per_center integer CHECK (homes_per_center > 0),
    ADD CHECK ((kind = 'neighborhood') = (radius_metres IS NOT NULL AND homes_per_center IS NOT NULL));

ALTER TABLE pieces
    -- What verification changed, in words; empty for nothing.
    ADD COLUMN corrections text NOT NULL DEFAULT '',
    -- Neighborhood Mail: the entry of the center that the home lies around.
    ADD COLUMN center_entry_id uuid;

ALTER TABLE recipients
    -- How far the address was verified, or why it was not.
    ADD COLUMN verification text NOT NULL DEFAULT '';
