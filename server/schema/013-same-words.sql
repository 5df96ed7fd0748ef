-- additive

-- Returns the words of a text. Words that differ in case, «ё», stress marks or invisible characters are the same, as
-- `foldWords` of the contract has it: U+0450 and U+045D are «е» and «и» with a grave.
DO $do$
DECLARE
  known_letters text := (SELECT 'COLLATE pg_c_utf8' FROM pg_collation WHERE collname = 'pg_c_utf8');
  unseen text := '[\u0300\u0301\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E'
    '\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFF8\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A'
    '\U000E0000-\U000E0FFF]+';
  changed bigint[];
  former text := format($sql$
    regexp_replace(lower(translate(text, U&'ёЁ\0301\0300\00AD', 'ее') %s), '[^[:alnum:]]+', ' ', 'g')
  $sql$, known_letters);
BEGIN
  EXECUTE format($sql$
    CREATE OR REPLACE FUNCTION search_text(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(
      lower(translate(regexp_replace($1, %L, '', 'g'), U&'ёЁ\0450\0400\045D\040D', 'ееееии') %s),
      '[^[:alnum:]]+', ' ', 'g')
  $sql$, unseen, known_letters);

  -- The index has the former words of these posts. It takes the new words only with a changed text.
  EXECUTE format($sql$
    SELECT array_agg(id) FROM posts WHERE hidden_for IS NULL AND text ~ %L AND %s <> search_text(text)
  $sql$, '[\u0400\u040D\u0450\u045D]|' || unseen, former) INTO changed;
  UPDATE posts SET text = text || ' ' WHERE id = ANY(changed);
  UPDATE posts SET text = left(text, -1) WHERE id = ANY(changed);
END $do$;
