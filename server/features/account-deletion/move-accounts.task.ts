import type { FastifyBaseLogger } from 'fastify'
import type { Db } from '../../kernel/db/database.ts'
import type { Jobs } from '../../kernel/queue/queue.ts'
import { type Mover, selectMovers } from './account-deletion.repository.ts'
import { hideAccount, showAccount } from './account-moves.ts'
import { noteDeletions } from './deletion-list.service.ts'
import { type Erasure, eraseAccount } from './erase-account.ts'

type MoveOptions = Omit<Erasure, 'userId'> & {
  /** Whether the clock can be believed that an account's time is up. */
  mayErase: () => Promise<boolean>
  /** Rejects when the process is about to end. */
  stopping: Promise<never>
}

type JobOptions = Omit<MoveOptions, 'stopping'> & {
  /** Where it is noted who has deleted their account. */
  folders: string[]
  log: Pick<FastifyBaseLogger, 'error'>
}

/** The jobs of account deletion, on the pool of jobs. */
export const accountDeletionJobs = (db: Db, { folders, log, ...options }: JobOptions): Jobs => ({
  'move-accounts': {
    everyMinutes: 1,
    async run(_, { stopping }) {
      await noteDeletions(db, folders, (err) =>
        log.error({ err }, 'a deleted account was not noted beside the backups'),
      )
      await moveAccounts(db, { ...options, stopping })
    },
  },
})

/**
 * Hides the posts and likes of deleted accounts, shows those of returning ones again, and erases those whose time is up, in
 * short steps. It may be interrupted at any moment and may run twice at once: the next run goes on where it ended. An account
 * that fails keeps no other one waiting; the first failure is thrown at the end.
 */
export async function moveAccounts(
  db: Db,
  { nameKey, mayErase, stopping, invalidate }: MoveOptions,
): Promise<void> {
  async function move(mover: Mover): Promise<void> {
    if (mover.goes === 'for good') {
      return eraseAccount(db, { userId: mover.id, nameKey, invalidate }, stopping)
    }
    if (mover.goes === 'out') {
      if (await hideAccount(db, mover, stopping)) await invalidate()
      return
    }
    await showAccount(db, mover, stopping)
    await invalidate()
  }

  const failures: unknown[] = []
  for (const mover of await selectMovers(db, await mayErase())) {
    await Promise.race([stopping, undefined])
    await move(mover).catch((error) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}
