import type { Difference } from '../server/features/posts/counters.task.ts'
import {
  findCounterDifferences,
  fixCounter,
  formatDifferences,
  inLockOrder,
} from '../server/features/posts/counters.task.ts'
import { appendToJournal } from '../server/kernel/journal/journal.ts'
import { storeCounterCheck } from '../server/operations/status/status.repository.ts'
import { type Command, type Context, commitAndPublish, type Output } from './command.ts'
import { showProgress } from './progress.ts'

export const recount: Command = {
  summary: 'сверяет каждый счётчик с его строками, исправляет и говорит, что исправлено',
  needs: 'wall',
  forms: { recount: mendAll },
}

async function mendAll(context: Context): Promise<Output> {
  const mended: Difference[] = []
  const onProgress = showProgress(context.say, () =>
    mended.length > 0 ? `, исправлено: ${mended.length}` : '',
  )
  // A check returns at most a hundred differences; a dry run would find the same ones forever.
  for (;;) {
    const differences = await findCounterDifferences(context.db, (done, total) =>
      onProgress('count', done, total),
    )
    if (differences.length > 0) await mend(context, differences)
    mended.push(...differences)
    if (differences.length === 0 || context.isDryRun) break
  }
  // Otherwise the doctor and the metrics would report the differences until the nightly check.
  if (!context.isDryRun) await storeCounterCheck(context.db, 0)
  const lines = mended.map(
    ({ counter, id, kept, rows }) =>
      `${NAMES[counter]?.(id) ?? counter}: было ${kept}, строк ${rows}`,
  )
  const done = context.isDryRun
    ? `Было бы исправлено: ${formatDifferences(mended.length)}.`
    : `Исправлено: ${mended.length}.`
  const result = mended.length === 0 ? 'Все счётчики верны.' : done
  return { lines: [...lines, result], json: { mended } }
}

async function mend(context: Context, differences: Difference[]): Promise<void> {
  await commitAndPublish(context, async (tx) => {
    for (const difference of inLockOrder(differences)) await fixCounter(tx, difference)
    const details = { mended: differences }
    await appendToJournal(tx, { actor: context.actor, action: 'counters.mend', details })
  })
}

const NAMES: Record<string, (id: string) => string> = {
  'post likes': (id) => `Отметки записи ${id}`,
  'post replies': (id) => `Ответы на запись ${id}`,
  'owner posts': (id) => `Записи человека ${id}`,
  'owner replies': (id) => `Ответы человека ${id}`,
  wall: () => 'Записи стены',
}
