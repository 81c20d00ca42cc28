-- What addresses are verified against, and what verifiers said. Nothing here belongs to a team but return addresses.

-- An address point: a house or unit that exists. Imported by the operator, shared by all teams.
CREATE TABLE address_points (
    -- As a number: 2134 is 02134.
    zip         integer NOT NULL CHECK (zip BETWEEN 0 AND 99999),
    -- Derived from the ZIP and the standardised delivery line: 17 bits ZIP, 63 of the house, 48 of the unit (zero
    -- without one). So a request's addresses lie together in every index, and the units of a house follow the house.
    address_id  uuid NOT NULL,
    -- Place on a space-filling curve: a circle is a few ranges of it.
    cell        bigint NOT NULL,
    -- Degrees, WGS 84.
    latitude    double precision NOT NULL,
    longitude   double precision NOT NULL,
    -- The standardised delivery line, unit included.
    line_1      text NOT NULL,
    city        text NOT NULL,
    state       text NOT NULL,
    -- The four digits behind the ZIP; NULL when the source does not say.
    plus4       text,
    -- Whether somebody lives there; NULL when the source does not say.
    residential boolean,
    PRIMARY KEY (zip, address_id)
);
-- The homes around a place, for Neighborhood Mail. Shops, offices and empty lots are no homes.
CREATE INDEX address_points_homes ON address_points (cell) WHERE residential IS NOT FALSE;

-- A street of a ZIP that points are on.
CREATE TABLE address_streets (
    zip             integer NOT NULL,
    -- Hash of all its parts.
    street_key      bigint NOT NULL,
    -- The same for streets that differ in directionals or suffix alone.
    name_key        bigint NOT NULL,
    predirectional  text NOT NULL,
    name            text NOT NULL,
    suffix          text NOT NULL,
    postdirectional text NOT NULL,
    PRIMARY KEY (zip, street_key)
);
-- Streets are looked for by name in a ZIP and in the ZIPs around it: a street that stands nearby as it was written is
-- the one that was meant, and no other is taken for it.
CREATE INDEX address_streets_by_name_and_place ON address_streets (name_key, zip, street_key);

-- How many points a ZIP has: what is not found in a ZIP without points is not known, instead of wrong.
CREATE TABLE address_zips (
    zip    integer PRIMARY KEY,
    points bigint NOT NULL
);

-- An address that the operator vouches for, whatever a verifier says.
CREATE TABLE address_overrides (
    address_id uuid PRIMARY KEY,
    -- One line, for people.
    address    text NOT NULL,
    -- Why, for people.
    note       text NOT NULL,
    added_at   timestamptz NOT NULL
);

-- An import of a file of address points. A file is known by its content, so that an import that was interrupted goes on
-- where it was, and one that was done is not done again.
CREATE TABLE address_imports (
    file_hash   bytea PRIMARY KEY CHECK (octet_length(file_hash) = 32),
    -- The file's name, for people.
    name        text NOT NULL,
    -- Bytes of the unpacked file that are in the tables; written in the transaction that writes their points.
    position    bigint NOT NULL,
    rows_read   bigint NOT NULL,
    rows_kept   bigint NOT NULL,
    -- Counts of the rows left out, by reason.
    skipped     jsonb NOT NULL,
    started_at  timestamptz NOT NULL,
    finished_at timestamptz
);

-- What a remote verifier answered, until it is asked again.
CREATE TABLE address_answers (
    -- Its name.
    verifier   text NOT NULL,
    -- Derived from the address as sent.
    input_id   uuid NOT NULL,
    answer     jsonb NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (verifier, input_id)
);
-- Forgetting old answers.
CREATE INDEX address_answers_by_expiry ON address_answers (expires_at);

-- A return address that was verified. Return addresses may have fields in them, so that each recipient can have another.
CREATE TABLE return_addresses (
    team_id    uuid NOT NULL,
    -- Derived from the address with its fields filled in.
    input_id   uuid NOT NULL,
    -- Its lines as they print; NULL when it could not be verified.
    lines      text[],
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, input_id)
);
-- Forgetting old ones.
CREATE INDEX return_addresses_by_expiry ON return_addresses (expires_at);

-- How many return addresses a team has asked to verify in a day of its time zone, those past the limit too.
CREATE TABLE return_address_days (
    team_id uuid NOT NULL,
    day     date NOT NULL,
    asked   bigint NOT NULL CHECK (asked > 0),
    PRIMARY KEY (team_id, day)
);
-- Forgetting days that are over.
CREATE INDEX return_address_days_by_day ON return_address_days (day);
