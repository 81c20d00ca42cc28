-- A slip of the pen leaves the beginning or the end of a street's name as it is: streets of a ZIP are looked for by either.
-- Only imports of address points wait for these indexes; there is a row for each street of each ZIP.
CREATE INDEX address_streets_by_beginning ON address_streets (zip, (lower(name) COLLATE "C"));
CREATE INDEX address_streets_by_end ON address_streets (zip, (reverse(lower(name)) COLLATE "C"));
