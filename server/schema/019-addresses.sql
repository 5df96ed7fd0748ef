-- additive

-- `id_base` begins the ids of feeds and structured data. It is set once, so that a wall with a new address keeps them.
-- `public_url` is the address of the last start, `moved_at` when a start found another one there, and `former_url` the
-- last of the former addresses that the settings name.
ALTER TABLE installation ADD id_base text;
ALTER TABLE installation ADD public_url text;
ALTER TABLE installation ADD moved_at timestamptz;
ALTER TABLE installation ADD former_url text;

-- The day from which a wall that ends can only be read.
ALTER TABLE site_state ADD ends_at timestamptz;
