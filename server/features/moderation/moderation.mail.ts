import { formatDate } from '../../../contract/dates.ts'
import { MODERATION_PATH, PATHS } from '../../../contract/pages.ts'
import type { Db } from '../../kernel/db/database.ts'
import { ageInWords } from '../../kernel/errors/words.ts'
import { type Line, toOneLine, writeMail } from '../../kernel/mail/mail-body.ts'
import type { MailOptions, NoticeOptions } from '../../kernel/mail/mail-words.ts'
import type { QueuedMail } from '../../kernel/mail/queue-mail.ts'
import type { Mail } from '../../kernel/mail/smtp.ts'
import { countWaiting, type WaitingCounts } from './queue.repository.ts'

export const moderationMails = (db: Db, options: NoticeOptions) => ({
  'send-queue-mail': {
    write: async (mail: QueueMail) => writeMailAboutQueue(mail, await countWaiting(db), options),
  },
  'send-decision-mail': { write: (mail: DecisionMail) => writeDecisionMail(mail, options) },
  'send-block-mail': { write: (mail: BlockMail) => writeBlockMail(mail, options) },
})

export type QueueMail = QueuedMail & {
  isHidingStopped?: boolean
}

function writeMailAboutQueue(
  { to, isHidingStopped = false }: QueueMail,
  waiting: WaitingCounts,
  options: MailOptions,
): Mail | null {
  if (waiting.oldest === null) return null
  const stopped =
    'За час жалобы скрыли слишком много записей. Следующие остаются на виду, пока вы не решите.'
  const lines = [
    ...(isHidingStopped ? [stopped, ''] : []),
    `Записи ждут решения: ${waiting.posts}.`,
    `Открытых жалоб: ${waiting.reports}, обжалований: ${waiting.appeals}.`,
    `Самая давняя ждёт ${ageInWords((Date.now() - waiting.oldest.getTime()) / 1000)}.`,
    '',
    `Очередь: ${options.origin}${MODERATION_PATH}`,
    '',
    'Письмо приходит не чаще раза в час, и только когда есть новое.',
  ]
  const what = isHidingStopped ? 'Жалобы больше не скрывают записи' : 'Жалобы ждут решения'
  return writeMail({ to, subject: `${what}: ${waiting.posts}` }, lines, options)
}

export type DecisionMail = QueuedMail & {
  outcome: 'removed' | 'restored' | 'appeal granted' | 'appeal refused'
  text: string
  reason: string | null
  /** The end of the author's block in unix milliseconds; null: no end; undefined: no block. */
  blockedUntil?: number | null
  posts?: number
}

export type BlockMail = QueuedMail & { reason: string; blockedUntil: number | null }

function writeDecisionMail(
  { to, outcome, text, reason, blockedUntil, posts = 1 }: DecisionMail,
  options: NoticeOptions,
): Mail {
  const { appName, origin, contact } = options
  const own = `${origin}${PATHS.ownPosts}`
  const because = reason ? [becauseOf(reason)] : []
  const isWave = outcome === 'removed' && posts > 1
  const quoted: Line[] = [
    '',
    isWave ? 'Текст первой из них:' : 'Текст записи:',
    { quote: text },
    '',
  ]
  const removed = isWave
    ? `Модератор удалил ваши записи на сайте «${appName}»: ${posts}.`
    : `Модератор удалил вашу запись на сайте «${appName}».`
  const block = blockedUntil === undefined ? [] : [...readOnlyLines(blockedUntil, contact), '']
  const returned = 'Ваша запись возвращена'
  const mails: Record<DecisionMail['outcome'], [subject: string, ...Line[]]> = {
    removed: [
      isWave ? 'Ваши записи удалены' : 'Ваша запись удалена',
      removed,
      ...because,
      ...quoted,
      ...block,
      'Если вы не согласны, решение можно один раз обжаловать в разделе «Мои записи»:',
      own,
    ],
    restored: [returned, `Модератор вернул вашу запись на сайт «${appName}».`, ...quoted, own],
    'appeal granted': [
      returned,
      `Модератор согласился с вами: запись снова на сайте «${appName}».`,
      ...quoted,
      own,
    ],
    'appeal refused': [
      'Решение осталось в силе',
      `Модератор ещё раз посмотрел на вашу запись на сайте «${appName}»: она остаётся удалённой.`,
      ...because,
      ...quoted,
      ...block,
      'Обжаловать это решение ещё раз нельзя.',
    ],
  }
  const [subject, ...lines] = mails[outcome]
  return writeMail({ to, subject }, lines, options)
}

function writeBlockMail({ to, reason, blockedUntil }: BlockMail, options: NoticeOptions): Mail {
  const lines = [
    `Модератор сайта «${options.appName}» закрыл вам возможность писать.`,
    becauseOf(reason),
    '',
    ...readOnlyLines(blockedUntil, options.contact),
  ]
  return writeMail({ to, subject: 'Вы можете только читать' }, lines, options)
}

const becauseOf = (reason: string) => `Причина: ${toOneLine(reason).replace(/\.$/, '')}.`

function readOnlyLines(until: number | null, contact: string | undefined): string[] {
  return [
    `${until === null ? 'Теперь' : `До ${formatDate(until)}`} вы можете только читать.`,
    'Войти, скачать свои данные, удалить записи и аккаунт можно по-прежнему. Все сессии завершены.',
    ...(contact ? [`Вопросы: ${contact}`] : []),
  ]
}
