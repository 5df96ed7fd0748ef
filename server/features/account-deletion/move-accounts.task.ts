import type { Db } from '../../kernel/db/database.ts'
import type { Node } from '../../kernel/feature.ts'
import type { Jobs } from '../../kernel/queue/queue.ts'
import { selectDeletionStates, selectMoves } from './account-deletion.repository.ts'
import { AccountMover, type MoveOptions } from './account-moves.service.ts'
import { deletionFolders, type Noted, noteDeletions } from './deletion-list.service.ts'

export function accountDeletionJobs({ background: db, config, key, log, ...node }: Node): Jobs {
  const { mayErase, publishChange } = node
  const options = { nameKey: key('usernames'), mayErase, publishChange }
  const folders = deletionFolders(config)
  const noted: Noted = new Map()
  const onFailure = (err: unknown) =>
    log.error({ err }, 'a deleted account was not noted beside the backups')
  return {
    'move-accounts': {
      everyMinutes: 1,
      async run({ stopping }) {
        await noteDeletions(await selectDeletionStates(db), folders, { noted, onFailure })
        await moveAccounts(db, { ...options, stopping })
      },
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
