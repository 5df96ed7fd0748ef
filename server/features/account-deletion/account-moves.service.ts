import type { PublishChange } from '../../kernel/cache/change-feed.ts'
import type { Db, Queryable } from '../../kernel/db/database.ts'
import type { Node } from '../../kernel/feature.ts'
import { appendToJournal, isInJournal } from '../../kernel/journal/journal.ts'
import type { Job } from '../../kernel/queue/queue.ts'
import { reserveNamesOf } from '../account/account.service.ts'
import { moveOwnLikes } from '../likes/likes.repository.ts'
import { erasePostsOf } from '../likes/likes.service.ts'
import { rememberBlock } from '../moderation/blocks.service.ts'
import { movePostsOf } from '../posts/posts.service.ts'
import {
  type AccountMove,
  eraseUser,
  hasPosts,
  lockAccount,
  markReturned,
  selectDeletionStates,
  selectMoves,
} from './account-deletion.repository.ts'
import { addToDeletionList, deletionFolders, type Listed } from './deletion-list.service.ts'

export const ERASURE = 'user.erase'

export type MoveOptions = {
  nameKey: Buffer
  publishChange: PublishChange
  /** Rejects when the process is about to end. */
  stopping?: Promise<never>
}

export function moveAccountsJob({ background: db, config, key, log, ...node }: Node): Job {
  const { mayErase, publishChange } = node
  const options = { nameKey: key('usernames'), mayErase, publishChange }
  const folders = deletionFolders(config)
  const listed: Listed = new Map()
  const onFailure = (err: unknown) =>
    log.error({ err }, 'a deleted account was not noted beside the backups')
  return {
    cron: '* * * * *',
    async run({ stopping }) {
      await addToDeletionList(await selectDeletionStates(db), folders, { listed, onFailure })
      await moveAccounts(db, { ...options, stopping })
    },
  }
}

/** Moves all accounts; one failure does not stop the others. `mayErase` checks the clock. */
export async function moveAccounts(
  db: Db,
  { mayErase, ...options }: MoveOptions & { mayErase: () => Promise<boolean> },
): Promise<void> {
  const failures: unknown[] = []
  for (const move of await selectMoves(db, await mayErase())) {
    await Promise.race([options.stopping, undefined])
    const mover = new AccountMover(db, move, options)
    await mover[move.kind]().catch((error) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}

type Step = (tx: Queryable) => Promise<boolean>

/** Moves an account in short steps that lock it: a move may be interrupted or run twice at once. */
export class AccountMover {
  readonly #db: Db
  readonly #move: AccountMove
  readonly #options: MoveOptions

  constructor(db: Db, move: AccountMove, options: MoveOptions) {
    this.#db = db
    this.#move = move
    this.#options = options
  }

  async hide(): Promise<void> {
    const { userId } = this.#move
    const haveHiddenPosts = await this.#repeat((tx) => movePostsOf(tx, userId, true))
    const haveMovedLikes = await this.#moveOwnLikes(true)
    if (haveHiddenPosts || haveMovedLikes) await this.#options.publishChange({ kind: 'edited' })
  }

  async show(): Promise<void> {
    const { userId } = this.#move
    await this.#repeat((tx) => movePostsOf(tx, userId, false))
    await this.#moveOwnLikes(false)
    await this.#once((tx) => markReturned(tx, userId))
    await this.#options.publishChange({ kind: 'edited' })
  }

  /** Repeats the erasure, because a call in flight may publish or restore a post. */
  async erase(): Promise<void> {
    const { userId } = this.#move
    let hasMore = true
    while (hasMore) {
      await this.hide()
      await this.#repeat(async (tx) => (await erasePostsOf(tx, userId)) > 0)
      hasMore = false
      await this.#once(async (tx) => {
        hasMore = await hasPosts(tx, userId)
        if (!hasMore) await this.#eraseLastRows(tx)
      })
    }
  }

  async #eraseLastRows(tx: Queryable): Promise<void> {
    const { userId } = this.#move
    const { nameKey } = this.#options
    // The user is locked, so no block can be placed or lifted.
    await rememberBlock(tx, userId, nameKey)
    await reserveNamesOf(tx, userId, nameKey)
    await eraseUser(tx, userId)
    if (await isInJournal(tx, ERASURE, userId)) return
    await appendToJournal(tx, { actor: 'vslukh', action: ERASURE, userId })
  }

  #moveOwnLikes(hasLeft: boolean): Promise<boolean> {
    let afterId = '0'
    return this.#repeat(async (tx) => {
      const last = await moveOwnLikes(tx, { userId: this.#move.userId, afterId, hasLeft })
      afterId = last ?? afterId
      return last !== null
    })
  }

  #once(step: (tx: Queryable) => Promise<void>): Promise<boolean> {
    return this.#repeat((tx) => step(tx).then(() => false))
  }

  /** Repeats a step until it finds nothing more to do. Returns whether anything was done. */
  async #repeat(step: Step): Promise<boolean> {
    const { stopping } = this.#options
    let hasDoneAny = false
    for (;;) {
      const once = this.#db
        .transaction()
        .execute(async (tx) => (await lockAccount(tx, this.#move)) && (await step(tx)))
      if (!(await Promise.race([once, stopping ?? once]))) return hasDoneAny
      hasDoneAny = true
    }
  }
}
