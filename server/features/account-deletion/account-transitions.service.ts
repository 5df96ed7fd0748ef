import type { PublishChange } from '../../kernel/cache/change-feed.ts'
import type { Db, Queryable } from '../../kernel/db/database.ts'
import { appendToJournal, isInJournal } from '../../kernel/journal/journal.ts'
import type { Job } from '../../kernel/queue/queue.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import { reserveNamesOf } from '../account/account.service.ts'
import { setLikesLeft } from '../likes/likes.repository.ts'
import { erasePostsOf } from '../likes/likes.service.ts'
import { rememberBlock } from '../moderation/blocks.service.ts'
import { setPostsLeft } from '../posts/posts.service.ts'
import {
  eraseUser,
  hasPosts,
  lockAccount,
  markReturned,
  selectDeletionStates,
  selectTransitions,
  type Transition,
} from './account-deletion.repository.ts'
import {
  addToDeletionList,
  deletionFolders,
  type ListedDeletions,
} from './deletion-list.service.ts'

export const ERASE_ACTION = 'user.erase'

export type TransitionOptions = {
  nameKey: Buffer
  publishChange: PublishChange
  /** Rejects when the process is about to end. */
  stopping?: Promise<never>
}

export function transitionsJob({
  background: db,
  config,
  key,
  log,
  ...context
}: ServerContext): Job {
  const { mayErase, publishChange } = context
  const options = { nameKey: key('usernames'), mayErase, publishChange }
  const folders = deletionFolders(config)
  const listed: ListedDeletions = new Map()
  const onFailure = (err: unknown) =>
    log.error({ err }, 'a deleted account was not noted beside the backups')
  return {
    cron: '* * * * *',
    async run({ stopping }) {
      await addToDeletionList(await selectDeletionStates(db), folders, { listed, onFailure })
      await finishTransitions(db, { ...options, stopping })
    },
  }
}

/**
 * Hides, shows or erases all accounts that left or returned; one failure does not stop the others.
 * `mayErase` checks the clock.
 */
export async function finishTransitions(
  db: Db,
  { mayErase, ...options }: TransitionOptions & { mayErase: () => Promise<boolean> },
): Promise<void> {
  const failures: unknown[] = []
  for (const transition of await selectTransitions(db, await mayErase())) {
    await Promise.race([options.stopping, undefined])
    const steps = new TransitionSteps(db, transition, options)
    await steps[transition.kind]().catch((error) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}

type Step = (tx: Queryable) => Promise<boolean>

/**
 * Hides, shows or erases an account in short steps that lock it: a transition may be interrupted or
 * run twice at once.
 */
export class TransitionSteps {
  readonly #db: Db
  readonly #transition: Transition
  readonly #options: TransitionOptions

  constructor(db: Db, transition: Transition, options: TransitionOptions) {
    this.#db = db
    this.#transition = transition
    this.#options = options
  }

  async hide(): Promise<void> {
    const { userId } = this.#transition
    const haveHiddenPosts = await this.#repeat((tx) => setPostsLeft(tx, userId, true))
    const haveChangedLikes = await this.#setLikesLeft(true)
    if (haveHiddenPosts || haveChangedLikes) await this.#options.publishChange({ kind: 'edited' })
  }

  async show(): Promise<void> {
    const { userId } = this.#transition
    await this.#repeat((tx) => setPostsLeft(tx, userId, false))
    await this.#setLikesLeft(false)
    await this.#once((tx) => markReturned(tx, userId))
    await this.#options.publishChange({ kind: 'edited' })
  }

  /** Repeats the erasure, because a call in flight may publish or restore a post. */
  async erase(): Promise<void> {
    const { userId } = this.#transition
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
    const { userId } = this.#transition
    const { nameKey } = this.#options
    // The user is locked, so no block can be placed or lifted.
    await rememberBlock(tx, userId, nameKey)
    await reserveNamesOf(tx, userId, nameKey)
    await eraseUser(tx, userId)
    if (await isInJournal(tx, ERASE_ACTION, userId)) return
    await appendToJournal(tx, { actor: 'vslukh', action: ERASE_ACTION, userId })
  }

  #setLikesLeft(hasLeft: boolean): Promise<boolean> {
    let afterId = '0'
    return this.#repeat(async (tx) => {
      const last = await setLikesLeft(tx, { userId: this.#transition.userId, afterId, hasLeft })
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
        .execute(async (tx) => (await lockAccount(tx, this.#transition)) && (await step(tx)))
      if (!(await Promise.race([once, stopping ?? once]))) return hasDoneAny
      hasDoneAny = true
    }
  }
}
