-- Whether a Formulas only key sees people of the address book as they are in a preview; without it their texts are masked.
ALTER TABLE teams ADD COLUMN formula_keys_see_people boolean NOT NULL DEFAULT false;
