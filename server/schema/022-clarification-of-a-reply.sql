-- additive

-- Returns the clarification that a post has now: a statement that calls insert_post has looked at the rows before it
-- waited for the lock of the replied post.
CREATE FUNCTION clarification_of(clarified_id bigint, viewer_id bigint,
  OUT shown hydrated_posts, OUT is_liked boolean, OUT mentions json) RETURNS SETOF record VOLATILE LANGUAGE sql AS $$
  SELECT p, EXISTS (SELECT FROM likes WHERE post_id = p.id AND user_id = viewer_id), mentions_in(p.id)
  FROM posts JOIN hydrated_posts p ON p.id = clarification_id WHERE posts.id = clarified_id
$$;
