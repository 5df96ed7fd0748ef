-- additive

-- The reply that stands under the post, which the author wrote to it. Like a replied post it may be hidden or purged.
ALTER TABLE posts ADD clarification_id bigint;

CREATE FUNCTION check_clarification() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM posts WHERE id = NEW.clarification_id AND replied_post_id = NEW.id AND owner_id = NEW.owner_id
  ) THEN
    RAISE check_violation USING MESSAGE = 'a clarification is a reply of the author to the post';
  ELSIF EXISTS (SELECT FROM posts WHERE id = NEW.replied_post_id AND clarification_id = NEW.id) THEN
    RAISE check_violation USING MESSAGE = 'a clarification has no clarification';
  END IF;
  RETURN NEW;
END $$;

-- Owners and replied posts never change, so that what was checked stays true.
CREATE TRIGGER posts_clarified BEFORE INSERT OR UPDATE OF clarification_id ON posts
  FOR EACH ROW WHEN (NEW.clarification_id IS NOT NULL) EXECUTE FUNCTION check_clarification();
