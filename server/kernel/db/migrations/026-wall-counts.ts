import { type Kysely, sql } from 'kysely'

export const isAdditive = true

/**
 * Counts posts that answer nothing without looking for answered ones. The UPDATE that found none
 * also fired the triggers of `posts`: a tenth of what a publication on the wall took.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `CREATE OR REPLACE FUNCTION change_post_counts(replied_ids bigint[], owner_ids bigint[], steps int[])
      RETURNS void STRICT LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
    DECLARE
      wall bigint := (SELECT sum(step) FROM unnest(replied_ids, steps) c (replied_id, step) WHERE replied_id IS NULL);
      wall_slot int := floor(random() * 16);
    BEGIN
      IF array_remove(replied_ids, NULL) <> '{}' THEN
        PERFORM FROM posts WHERE id = ANY(replied_ids) ORDER BY id FOR NO KEY UPDATE;
        UPDATE posts p SET replies_count = p.replies_count + c.step FROM (
          SELECT replied_id, sum(step) AS step FROM unnest(replied_ids, steps) c (replied_id, step)
          WHERE replied_id IS NOT NULL GROUP BY replied_id
        ) c WHERE p.id = c.replied_id AND c.step <> 0;
      END IF;
      UPDATE wall_totals SET posts = posts + wall WHERE slot = wall_slot AND wall <> 0;
      INSERT INTO owner_totals AS t (user_id, posts, replies)
        SELECT owner_id, count(*) FILTER (WHERE replied_id IS NULL), count(replied_id)
        FROM unnest(replied_ids, owner_ids, steps) c (replied_id, owner_id, step)
        WHERE step > 0 GROUP BY owner_id ORDER BY owner_id
        ON CONFLICT (user_id) DO UPDATE SET posts = t.posts + excluded.posts, replies = t.replies + excluded.replies;
      IF -1 = ANY(steps) THEN
        PERFORM FROM owner_totals WHERE user_id = ANY(owner_ids) ORDER BY user_id FOR NO KEY UPDATE;
        UPDATE owner_totals t SET posts = t.posts - c.posts, replies = t.replies - c.replies FROM (
          SELECT owner_id, count(*) FILTER (WHERE replied_id IS NULL) AS posts, count(replied_id) AS replies
          FROM unnest(replied_ids, owner_ids, steps) c (replied_id, owner_id, step)
          WHERE step < 0 GROUP BY owner_id
        ) c WHERE t.user_id = c.owner_id;
      END IF;
    END $$`,
    )
    .execute(db)
}
