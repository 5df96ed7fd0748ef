-- additive

-- The clientToken with the network of the start. Set if the browser had no cookie: until it returns the one that the
-- start has set, it is known by its network.
ALTER TABLE codes ADD network_client_hash bytea;
CREATE UNIQUE INDEX codes_network_client ON codes (purpose, email_key, user_id, network_client_hash);
ALTER TABLE redeemed_codes ADD network_client_hash bytea;

-- Counts the secrets of a session. A secret with a higher number is from after the backup that was restored.
ALTER TABLE sessions ADD secret_number integer NOT NULL DEFAULT 0;
