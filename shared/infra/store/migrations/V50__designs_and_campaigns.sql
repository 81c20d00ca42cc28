-- Designs with their pictures, and campaigns with their lists and figures.

-- A design as it was saved last.
CREATE TABLE designs (
    team_id    uuid NOT NULL REFERENCES teams,
    design_id  uuid NOT NULL,
    name       text NOT NULL,
    -- Counted from 1; a save adds one.
    version    integer NOT NULL CHECK (version > 0),
    -- Made by a language model and not yet opened and saved by a person: cannot print.
    ai_draft   boolean NOT NULL DEFAULT false,
    document   jsonb NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, design_id),
    UNIQUE (team_id, name)
);

-- Every version of a design that was ever saved: a mailpiece prints with the one of its send, whatever was saved since.
CREATE TABLE design_versions (
    team_id   uuid NOT NULL,
    design_id uuid NOT NULL,
    version   integer NOT NULL CHECK (version > 0),
    document  jsonb NOT NULL,
    saved_at  timestamptz NOT NULL,
    -- The member's name; NULL for one that came from an operator's file.
    saved_by  text,
    PRIMARY KEY (team_id, design_id, version),
    FOREIGN KEY (team_id, design_id) REFERENCES designs
);

-- What came of fetching a picture by its link. The file is named after its content: a link whose picture has changed
-- gets another file, and mailpieces that are made already keep theirs.
CREATE TABLE pictures (
    team_id    uuid NOT NULL,
    -- "design": of a design, for good. "recipient": sent with a recipient, until it is fetched again.
    kept_for   text NOT NULL CHECK (kept_for IN ('design', 'recipient')),
    -- Hash of the link: links can be long, and can hold what is nobody's business.
    link_hash  bytea NOT NULL CHECK (octet_length(link_hash) = 32),
    -- Its name in the store of files; NULL when it cannot be used.
    file       text,
    -- Why it cannot be used.
    problem    text,
    -- When it is fetched again; NULL is never.
    expires_at timestamptz,
    PRIMARY KEY (team_id, kept_for, link_hash),
    CHECK ((file IS NULL) = (problem IS NOT NULL))
);
-- Forgetting old ones.
CREATE INDEX pictures_by_expiry ON pictures (expires_at);

-- A campaign. Whoever makes mailpieces for it locks its row first: budget, duplicates and lists are decided by one at
-- a time.
CREATE TABLE campaigns (
    -- What senders name it by.
    campaign_id            text PRIMARY KEY CHECK (campaign_id ~ '^PA-[A-Z0-9]{6}$'),
    team_id                uuid NOT NULL REFERENCES teams,
    name                   text NOT NULL,
    status                 text NOT NULL CHECK (status IN ('active', 'paused')),
    -- Where its audience comes from; only "api" takes requests.
    audience               text NOT NULL CHECK (audience IN ('api', 'list')),
    -- NULL is no limit.
    budget_cents           bigint CHECK (budget_cents >= 0),
    -- What settled and pending charges take of the budget.
    committed_cents        bigint NOT NULL DEFAULT 0 CHECK (committed_cents >= 0),
    -- NULL is off. The longer of this and the duplicate window holds.
    resend_protection_days integer CHECK (resend_protection_days > 0),
    -- GeoJSON Polygon or MultiPolygon as the owner gave it; NULL is everywhere.
    area                   text,
    -- The tree of filter conditions; NULL is none.
    conditions             jsonb,
    created_at             timestamptz NOT NULL,
    updated_at             timestamptz NOT NULL,
    -- How much of an address must be confirmed; NULL lets the verifier choose.
    strictness             text CHECK (strictness IN ('zip', 'street', 'delivery_point')),
    -- Whom it mails: the recipients, or (Neighborhood Mail) the homes around them.
    kind                   text NOT NULL DEFAULT 'audience' CHECK (kind IN ('audience', 'neighborhood')),
    -- Neighborhood Mail: how far around a recipient, and to how many homes at the most.
    radius_metres          integer CHECK (radius_metres > 0),
    homes_per_center       integer CHECK (homes_per_center > 0),
    -- How often recipients were removed from the campaign or addresses put on its do-not-mail list. Whoever does so locks
    -- the row with it; whoever makes mailpieces finds under that lock whether what it has read of the lists still holds.
    list_changes           bigint NOT NULL DEFAULT 0,
    UNIQUE (team_id, name),
    CHECK ((kind = 'neighborhood') = (radius_metres IS NOT NULL AND homes_per_center IS NOT NULL))
);
-- What uses a column is looked for among the campaigns of its team.
CREATE INDEX campaigns_by_team ON campaigns (team_id, campaign_id);

-- A step: one mailing of a campaign.
CREATE TABLE campaign_steps (
    campaign_id text NOT NULL REFERENCES campaigns,
    -- Counted from 1.
    step        smallint NOT NULL CHECK (step >= 1),
    -- NULL until one is chosen.
    design_id   uuid,
    postage     text NOT NULL CHECK (postage IN ('standard', 'first_class')),
    -- After step 1; 0 for step 1 itself.
    delay_days  integer NOT NULL CHECK (delay_days >= 0 AND (step > 1 OR delay_days = 0)),
    PRIMARY KEY (campaign_id, step)
);

-- An address that a campaign never mails to.
CREATE TABLE do_not_mail (
    campaign_id text NOT NULL REFERENCES campaigns,
    address_id  uuid NOT NULL,
    -- One line, for people.
    address     text NOT NULL,
    added_at    timestamptz NOT NULL,
    PRIMARY KEY (campaign_id, address_id)
);
-- The list in the order of its lines, and looking for a line by its beginning.
CREATE INDEX do_not_mail_by_address ON do_not_mail (campaign_id, (lower(address) COLLATE "C"), address_id);

-- What happened to a campaign on a day, added up in the transaction in which it happened.
CREATE TABLE campaign_days (
    team_id     uuid NOT NULL,
    day         date NOT NULL,
    campaign_id text NOT NULL,
    -- "sends": requests. "cards": mailpieces made. "scans": scans by people. "mailed" and the reasons: recipients with
    -- this outcome.
    figure      text NOT NULL,
    -- Requests are counted with the campaign locked, in slot 0. Scans come from everywhere at once: each connection counts
    -- in the slot of its number, so that they hardly ever wait for each other.
    slot        smallint NOT NULL,
    amount      bigint NOT NULL,
    PRIMARY KEY (team_id, day, campaign_id, figure, slot)
-- Room for a changed row beside its old version, so that no index is touched.
) WITH (fillfactor = 50);
-- Forgetting old days. They come in order, so a block range is enough.
CREATE INDEX campaign_days_by_day ON campaign_days USING brin (day);
