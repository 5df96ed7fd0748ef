-- additive
-- Accounts registered from one network share a random group, which stays when the hash of the network is erased.
ALTER TABLE users ADD COLUMN network_group uuid;

UPDATE users SET network_group = shared.id
FROM (
  SELECT network_hash, gen_random_uuid() AS id FROM users WHERE network_hash IS NOT NULL GROUP BY network_hash
) AS shared
WHERE users.network_hash = shared.network_hash;

-- The hashes of these have been erased, so that nobody knows which of them shared a network: they are one group.
UPDATE users SET network_group = (SELECT gen_random_uuid())
WHERE network_hash IS NULL AND created_at < now() - interval '30 days';
