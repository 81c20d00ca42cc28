-- An address is one account's once somebody has chosen its password. Until then several teams may have added it: whoever adds
-- somebody is not told whether the address has an account elsewhere.
--
--   added ──chooses a password──▶ claimed (and stays so, also while the password is reset)
ALTER TABLE users ADD COLUMN is_claimed boolean NOT NULL DEFAULT false;
-- Addresses were one account's from the beginning.
UPDATE users SET is_claimed = true;
ALTER TABLE users
    ADD CONSTRAINT users_claimed_with_password CHECK (is_claimed OR password_hash IS NULL),
    ADD CONSTRAINT users_team_id_email_key UNIQUE (team_id, email),
    DROP CONSTRAINT users_email_key;
CREATE UNIQUE INDEX users_by_claimed_email ON users (email) WHERE is_claimed;
-- Who is found by the address alone.
CREATE INDEX users_by_email ON users (email);
