import { type BackupState, selectBackupState } from '../server/backup/backup-state.repository.ts'
import { countWaiting } from '../server/moderation/queue.repository.ts'
import { selectStatus } from '../server/status/status.repository.ts'
import type { Command, Context, Output } from './command.ts'
import { requireWords } from './command.ts'
import { count, POSTS, REPORTS, time } from './format.ts'

export const status: Command = {
  usage: ['status'],
  summary: 'люди, записи, жалобы, письма и проверки одним взглядом',
  async run(context: Context): Promise<Output> {
    requireWords(context, 0)
    const wall = await selectStatus(context.db)
    const waiting = await countWaiting(context.db)
    const backup = await selectBackupState(context.db)
    const nodes = wall.nodes === 0 ? 'сервер не запущен' : `узлов: ${wall.nodes}`
    const reports =
      waiting.oldest === null
        ? 'нет'
        : `${count(waiting.reports, REPORTS)} на ${count(waiting.posts, POSTS)}, дольше всех с ${time(waiting.oldest)}`
    const checked =
      wall.counters_checked_at === null
        ? 'ещё не сверялись'
        : `${time(wall.counters_checked_at)}, расхождений: ${wall.counter_differences}`
    return {
      lines: [
        `Версия:     ${wall.version ?? '—'}, ${nodes}`,
        `Люди:       ${wall.users}, сессий: ${wall.sessions}`,
        `Записи:     ${wall.posts} на стене, за сутки с ответами: ${wall.posts_today}`,
        `Жалобы:     ${reports}`,
        `Письма:     ждут: ${wall.mails_waiting}, не уходят: ${wall.mails_failing}`,
        `Счётчики:   ${checked}`,
        `Копия:      ${backupLine(backup)}`,
      ],
      json: { ...wall, waiting, backup },
    }
  },
}

function backupLine({ at, bytes, failed, verifiedAt }: BackupState): string {
  const last =
    at === null
      ? 'ещё не делалась'
      : `${time(at)}, ${(bytes / 1e6).toFixed(1)} МБ, ${verifiedAt ? `проверялась ${time(verifiedAt)}` : 'ещё не проверялась'}`
  return failed === null ? last : `${last}. Последняя не удалась: ${failed}`
}
