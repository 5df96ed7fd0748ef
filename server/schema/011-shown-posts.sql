-- additive

-- The visible posts as people read them, with times in unix seconds. `username` is null if the owner has left.
CREATE VIEW shown_posts AS
  SELECT p.id, p.text, floor(extract(epoch FROM p.created_at))::float8 AS created_at, p.is_modified,
    floor(extract(epoch FROM p.modified_at))::float8 AS modified_at, p.owner_id, owner.username,
    p.likes_count, p.replies_count, p.parent_post_id, p.replied_post_id
  FROM visible_posts p LEFT JOIN users owner ON owner.id = p.owner_id AND owner.deleted_at IS NULL;
