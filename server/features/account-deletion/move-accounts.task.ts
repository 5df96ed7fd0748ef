import type { Db } from '../../kernel/db/database.ts'
import type { Node } from '../../kernel/feature.ts'
import type { Jobs } from '../../kernel/queue/queue.ts'
import type { AccountMove } from './account-deletion.repository.ts'
import { selectDeletionStates, selectMoves } from './account-deletion.repository.ts'
import { hideAccount, showAccount } from './account-moves.service.ts'
import { deletionFolders, type Noted, noteDeletions } from './deletion-list.service.ts'
import { type Erasure, eraseAccount } from './erase-account.ts'

type MoveOptions = Omit<Erasure, 'userId'> & {
  /** Whether the clock can be believed that an account's time is up. */
  mayErase: () => Promise<boolean>
  /** Rejects when the process is about to end. */
  stopping?: Promise<never>
}

export function accountDeletionJobs({ background: db, config, key, log, ...node }: Node): Jobs {
  const { mayErase, publishChange } = node
  const options = { nameKey: key('usernames'), mayErase, publishChange }
  // Where it is noted who has deleted their account.
  const folders = deletionFolders(config)
  const noted: Noted = new Map()
  const onFailure = (err: unknown) =>
    log.error({ err }, 'a deleted account was not noted beside the backups')
  return {
    'move-accounts': {
      everyMinutes: 1,
      async run(_, { stopping }) {
        await noteDeletions(await selectDeletionStates(db), folders, { noted, onFailure })
        await moveAccounts(db, { ...options, stopping })
      },
    },
  }
}

/** It may be interrupted and run twice at once. An account that fails delays no other one. */
export async function moveAccounts(
  db: Db,
  { nameKey, mayErase, stopping, publishChange }: MoveOptions,
): Promise<void> {
  async function perform(move: AccountMove): Promise<void> {
    const { userId, kind } = move
    if (kind === 'erase') return eraseAccount(db, { userId, nameKey, publishChange }, stopping)
    if (kind === 'hide') {
      if (await hideAccount(db, move, stopping)) await publishChange({ kind: 'edited' })
      return
    }
    await showAccount(db, move, stopping)
    await publishChange({ kind: 'edited' })
  }

  const failures: unknown[] = []
  for (const move of await selectMoves(db, await mayErase())) {
    await Promise.race([stopping, undefined])
    await perform(move).catch((error) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}
