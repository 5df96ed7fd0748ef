import type { Change } from '../../kernel/cache/change-feed.ts'
import { type Db, isRowId, type Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Node } from '../../kernel/feature.ts'
import { queueMail } from '../../kernel/mail/queue-mail.ts'
import { selectRecentPosts } from './authors.repository.ts'
import type { NewBlock } from './blocks.repository.ts'
import { blockUser } from './blocks.service.ts'
import { type Decided, decide, type NewDecision } from './decisions.service.ts'

type InTransaction = <T>(work: (tx: Queryable) => Promise<T>) => Promise<T>

type Wave = Omit<NewDecision, 'postId' | 'verdict'> & {
  ids: string[]
  /** An earlier decision about another post of the author; one mail is about both. */
  first?: Decided
}

/**
 * Removes posts of one author, each in its own transaction, so that finished removals remain after
 * a failure. The first removal blocks the author. Returns the ids of the removed posts.
 */
export async function removeWave(
  run: InTransaction,
  { ids, first, notifies = 'reporters', ...wave }: Wave,
): Promise<string[]> {
  const removed: string[] = []
  let told = first
  try {
    for (const postId of ids) {
      const block = told ? undefined : wave.block
      const post = { postId, verdict: 'remove', isAnyPost: true } as const
      const decision = { ...wave, ...post, notifies, block }
      const decided = await run((tx) => decide(tx, decision)).catch(ignoreGone)
      if (decided) removed.push(postId)
      told ??= decided
    }
  } finally {
    const posts = removed.length + (first ? 1 : 0)
    const mail = notifies === 'nobody' ? undefined : told?.mail && { ...told.mail, posts }
    if (mail) await run((tx) => queueMail(tx, 'send-decision-mail', mail))
  }
  return removed
}

/** Ignores POST_NOT_FOUND, because the author may delete a post meanwhile. */
function ignoreGone(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'POST_NOT_FOUND') throw error
}

/** Runs transactions. If any was committed, publishes `change`, even if a later one failed. */
export async function inTransactions(
  { db, publishChange }: Pick<Node, 'db' | 'publishChange'>,
  change: Change,
  work: (run: InTransaction) => Promise<unknown>,
): Promise<void> {
  let isChanged = false
  const run: InTransaction = async (step) => {
    const result = await db.transaction().execute(step)
    isChanged = true
    return result
  }
  try {
    await work(run)
  } finally {
    if (isChanged) await publishChange(change)
  }
}

/** Decides about a post, and removes the author's other posts of the last day. */
export async function decideWithRecent(
  db: Db,
  run: InTransaction,
  decision: NewDecision,
): Promise<void> {
  const first = await run((tx) => decide(tx, { ...decision, notifies: 'reporters' }))
  const ids = await selectRecentPosts(db, first.userId)
  await removeWave(run, { ...decision, ids, first })
}

type BlockAndRemoval = NewBlock & Pick<NewDecision, 'removedDays'>

export async function blockAndRemove(
  db: Db,
  run: InTransaction,
  { removedDays, ...block }: BlockAndRemoval,
): Promise<void> {
  const { userId, reason, by: actor } = block
  const ids = isRowId(userId) ? await selectRecentPosts(db, userId) : []
  const wave = { ids, actor, isModerator: true, reason, block, removedDays }
  const removed = await removeWave(run, wave)
  if (removed.length === 0) await run((tx) => blockUser(tx, block))
}
