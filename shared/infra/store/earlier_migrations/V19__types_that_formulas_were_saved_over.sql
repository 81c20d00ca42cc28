-- The types of the columns that a formula uses, by folded name, as they were when it was saved: an integration may
-- declare another type, over which the formula would mean something else. Null where that is not known.
ALTER TABLE address_columns ADD COLUMN formula_uses jsonb;
