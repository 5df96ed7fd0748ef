import { isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import type { NewBlock } from './blocks.repository.ts'
import { blockUser } from './blocks.service.ts'
import { type DecisionResult, decide, type NewDecision } from './decisions.service.ts'
import { selectRecentPosts } from './queue.repository.ts'

type RunTransaction = <T>(work: (tx: Queryable) => Promise<T>) => Promise<T>

type Wave = Omit<NewDecision, 'postId' | 'verdict'> & {
  ids: string[]
  /** An earlier decision about another post of the author; one mail is about both. */
  first?: DecisionResult
}

/**
 * Removes posts of one author, each in its own transaction, so that finished removals remain after
 * a failure. The first removal blocks the author. Returns the ids of the removed posts.
 */
export async function removeWave(
  run: RunTransaction,
  { ids, first, notifies = 'reporters', ...wave }: Wave,
): Promise<string[]> {
  const removed: string[] = []
  let firstDecided = first
  try {
    for (const postId of ids) {
      const block = firstDecided ? undefined : wave.block
      // Another wave, such as the same call sent again, may have removed the post meanwhile.
      const post = { postId, verdict: 'remove', unreported: true } as const
      const decision = { ...wave, ...post, notifies, block }
      const decided = await run((tx) => decide(tx, decision)).catch(ignoreGone)
      if (decided) removed.push(postId)
      firstDecided ??= decided
    }
  } finally {
    const posts = removed.length + (first ? 1 : 0)
    const mail =
      notifies === 'nobody' ? undefined : firstDecided?.mail && { ...firstDecided.mail, posts }
    if (mail) await run((tx) => queueMail(tx, 'send-decision-mail', mail))
  }
  return removed
}

/** Ignores POST_NOT_FOUND, because a post may be deleted or removed meanwhile. */
function ignoreGone(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'POST_NOT_FOUND') throw error
}

/** Creates the function that runs a transaction which removes a post, and publishes that. */
function createTransactionRunner({ db, publishChange }: ServerContext): RunTransaction {
  return async (work) => {
    const result = await db.transaction().execute(work)
    await publishChange({ kind: 'removed' })
    return result
  }
}

/**
 * Decides about a post, and removes the author's other posts of the last day: each post in its own
 * transaction, all with one mail.
 */
export async function decideAndRemoveRecent(
  context: ServerContext,
  decision: NewDecision,
): Promise<void> {
  const run = createTransactionRunner(context)
  const first = await run((tx) => decide(tx, { ...decision, notifies: 'reporters' }))
  const ids = await selectRecentPosts(context.db, first.userId)
  await removeWave(run, { ...decision, ids, first })
}

/** Blocks a user, and removes the user's posts of the last day. */
export async function blockAndRemove(context: ServerContext, block: NewBlock): Promise<void> {
  const { userId, reason, by: actor } = block
  const { removedDays } = context.config
  const ids = isRowId(userId) ? await selectRecentPosts(context.db, userId) : []
  const wave = { ids, actor, isModerator: true, reason, block, removedDays }
  const removed = await removeWave(createTransactionRunner(context), wave)
  if (removed.length === 0) await context.db.transaction().execute((tx) => blockUser(tx, block))
}
