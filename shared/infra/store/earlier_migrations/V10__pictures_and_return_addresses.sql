-- What sends look up for cards: pictures by link, and return addresses with fields in them.

-- What came of fetching a picture. The file is named after its content; a link whose picture has changed gets
-- another file, and cards that are made already keep theirs.
CREATE TABLE pictures (
    team_id    uuid NOT NULL,
    -- "design": of a design, for good. "recipient": sent with a recipient, until it is fetched again.
    kept_for   text NOT NULL CHECK (kept_for IN ('design', 'recipient')),
    -- Hash of the link: links can be long, and can hold what is nobody's business.
    link_hash  bytea NOT NULL CHECK (octet_length(link_hash) = 32),
    -- Its name in the store of files; NULL when it cannot be used.
    file       text,
    -- Why not.
    problem    text,
    -- NULL is never.
    expires_at timestamptz,
    PRIMARY KEY (team_id, kept_for, link_hash),
    CHECK ((file IS NULL) = (problem IS NOT NULL))
);
CREATE INDEX pictures_by_expiry ON pictures (expires_at);

-- Return addresses that were verified, by the address as it was rendered.
CREATE TABLE return_addresses (
    team_id    uuid NOT NULL,
    input_id   uuid NOT NULL,
    -- Its lines as they print; NULL when it could not be verified.
    lines      text[],
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, input_id)
);
CREATE INDEX return_addresses_by_expiry ON return_addresses (expires_at);

-- How many return addresses a team has asked to verify in one of its days, those past the limit too.
CREATE TABLE return_address_days (
    team_id uuid NOT NULL,
    day     date NOT NULL,
    asked   bigint NOT NULL CHECK (asked > 0),
    PRIMARY KEY (team_id, day)
);
CREATE INDEX return_address_days_by_day ON return_address_days (day);
