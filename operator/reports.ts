import type { QueuedPost } from '../contract/moderation.ts'
import type { Decided, NewDecision } from '../server/features/moderation/decisions.service.ts'
import { decideWaiting } from '../server/features/moderation/decisions.service.ts'
import { readQueue } from '../server/features/moderation/moderation.service.ts'
import { selectDecided } from '../server/features/moderation/queue.repository.ts'
import type { Verdict } from '../server/features/moderation/report-states.repository.ts'
import { selectReasons } from '../server/features/reports/reports.repository.ts'
import type { Command, Context, Output } from './command.ts'
import { actOf, change, daysOf, requireWords, textOf, UsageError } from './command.ts'
import { ACCOUNTS, count, firstLine, indented, POSTS, REPORTS, time } from './format.ts'

const SHOWN_MAX = 500

export const reports: Command = {
  usage: ['reports [--all]'],
  summary: 'открытые жалобы по записям; --all — и последние решённые',
  options: ['all'],
  async run(context: Context): Promise<Output> {
    requireWords(context, 0)
    const { posts, total } = await readQueue(context.db, SHOWN_MAX)
    const decided = context.values.all === true ? await selectDecided(context.db, SHOWN_MAX) : []
    const waiting = posts.flatMap((post) => [...waitingLines(post), ''])
    const open = posts.length === 0 ? ['Открытых жалоб нет.'] : [...waiting, HOW_TO_DECIDE]
    const done = decided.map(
      (row) =>
        `${row.post_id}  ${OUTCOMES[row.state]} ${time(row.decided_at)}, ${count(row.reports, REPORTS)}: ${firstLine(row.text)}`,
    )
    const rest = total > posts.length ? [`… и ещё ${count(total - posts.length, POSTS)}`] : []
    return {
      lines: [...open, ...rest, ...(done.length > 0 ? ['', 'Решённые:', ...done] : [])],
      json: { posts, total, ...(context.values.all === true && { decided }) },
    }
  },
}

const OUTCOMES = { removed: 'удалена', kept: 'оставлена' } as const
const STATES = {
  published: '',
  hidden: ', скрыта',
  removed: ', удалена',
  deleted: ', удалил автор',
}

const HOW_TO_DECIDE =
  'Решить: vslukh report НОМЕР remove --reason "Спам", или keep. Подробнее: vslukh post НОМЕР'

export function waitingLines(post: QueuedPost): string[] {
  const { author, appeal } = post
  const block = author.block ? ', не может писать' : ''
  return [
    `${post.id}  ${author.username}${block}, ${time(post.createdAt)}${STATES[post.state]}`,
    ...reportLines(post),
    ...(appeal
      ? indented(
          `Обжалование от ${time(appeal.createdAt)}, удалена за: ${appeal.removedFor}\n«${appeal.text}»`,
        )
      : []),
    ...indented(post.text),
    ...(post.reportedText === null ? [] : indented(`Когда жаловались: ${post.reportedText}`)),
  ]
}

function reportLines({ reasons, reporters, since, comments }: QueuedPost): string[] {
  const reported = reasons.reduce((sum, reason) => sum + reason.count, 0)
  if (reported === 0) return []
  const counted = reasons.map(({ name, count: times }) => `${name} × ${times}`).join(', ')
  return [
    `    ${count(reported, REPORTS)} (${count(reporters, ACCOUNTS)}) с ${time(since)}: ${counted}`,
    ...comments.flatMap((comment) => indented(`«${comment}»`)),
  ]
}

export const report: Command = {
  usage: [
    'report НОМЕР remove [--reason ПРИЧИНА] [--block-days ДНЕЙ] [--note ТЕКСТ] [--order ТЕКСТ] [--quiet]',
    'report НОМЕР keep [--note ТЕКСТ] [--quiet]',
  ],
  summary: 'решает все жалобы на запись и её обжалование; автор и авторы жалоб узнают об этом',
  options: ['reason=', 'block-days=', 'note=', 'order=', 'quiet'],
  async run(context: Context): Promise<Output> {
    requireWords(context, 2)
    const [postId = '', word] = context.words
    const verdict = actOf<Verdict>({ remove: 'remove', keep: 'keep' }, word)
    const decision = await decisionOf(context, postId, verdict)
    await confirmBlock(context, decision)
    const decided = await change(context, (tx) => decideWaiting(tx, decision))
    return outcomeOf(verdict, decided)
  },
}

export async function decisionOf(
  context: Context,
  postId: string,
  verdict: Verdict,
): Promise<NewDecision> {
  const days = daysOf(context, 'block-days')
  return {
    postId,
    verdict,
    actor: context.actor,
    reason: await reasonOf(context),
    block: days === undefined ? undefined : { days },
    note: textOf(context, 'note'),
    order: textOf(context, 'order'),
    ...(context.values.quiet === true && { notifies: 'nobody' as const }),
    removedDays: context.config.removedDays,
  }
}

/** Returns the reason that people are told: a text, or that of reports with a number. */
export async function reasonOf(context: Context): Promise<string | undefined> {
  const text = textOf(context, 'reason')
  if (text === undefined || !/^\d+$/.test(text)) return text
  const known = await selectReasons(context.db)
  const found = known.find(({ id }) => id === text)
  if (found) return found.name
  const list = known.map(({ id, name }) => `${id} — ${name}`).join(', ')
  throw new UsageError(`--reason: нужны слова или номер причины: ${list}`)
}

/** A block closes the author's sessions for good. */
export async function confirmBlock(
  { confirm }: Context,
  { postId, verdict, block }: Pick<NewDecision, 'postId' | 'verdict' | 'block'>,
): Promise<void> {
  if (verdict === 'keep' || block === undefined) return
  await confirm(
    `Удалить запись ${postId} и закрыть автору возможность писать? Все сессии автора завершатся.`,
  )
}

export function outcomeOf(verdict: Verdict, { id, was }: Decided): Output {
  const line = verdict === 'remove' ? 'Запись удалена.' : KEPT[was]
  return { lines: [line], json: { id, was } }
}

const KEPT = {
  published: 'Запись оставлена.',
  hidden: 'Запись возвращена.',
  removed: 'Запись возвращена.',
  deleted: 'Жалобы закрыты.',
}
