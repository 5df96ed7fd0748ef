import type { QueuedPost } from '../contract/moderation.ts'
import type {
  DecisionResult,
  NewDecision,
} from '../server/features/moderation/decisions.service.ts'
import { decide } from '../server/features/moderation/decisions.service.ts'
import { readQueue } from '../server/features/moderation/moderation.service.ts'
import {
  countWaiting,
  selectReportDecisions,
} from '../server/features/moderation/queue.repository.ts'
import type { Verdict } from '../server/features/moderation/report-states.repository.ts'
import { selectReasons } from '../server/features/reports/reports.repository.ts'
import { isRowId } from '../server/kernel/db/database.ts'
import { AppError } from '../server/kernel/errors/app-error.ts'
import { formatOperatorTime, pluralize } from '../server/kernel/errors/words.ts'
import { readJournal } from '../server/kernel/journal/journal.ts'
import type { Command, Context, Output } from './command.ts'
import { commit, publishChange, UsageError } from './command.ts'
import { ACCOUNTS, firstLine, indentLines, POSTS, REPORTS } from './format.ts'

/** The most waiting posts in the JSON of the first page, and the most decided posts of `--all`. */
const SHOWN_MAX = 500
/** The number of posts on a page, which fit on a screen. */
const SHOWN = 10

export const reports: Command = {
  summary: 'открытые жалобы по записям; --all — и последние решённые',
  needs: 'wall',
  forms: { 'reports [--page ЧИСЛО] [--all]': list },
}

async function list({ db, options }: Context): Promise<Output> {
  const { page = 1, all: showsDecided = false, json } = options
  const first = (page - 1) * SHOWN
  const limit = json && page === 1 ? SHOWN_MAX : SHOWN
  const { posts } = await readQueue(db, limit, first)
  const { posts: total } = await countWaiting(db)
  const decided = showsDecided ? await selectReportDecisions(db, SHOWN_MAX) : []
  const waiting = posts.flatMap((post) => [...queuedPostLines(post), ''])
  const [{ id } = { id: '' }] = posts
  const nothing =
    total === 0
      ? 'Открытых жалоб нет.'
      : `На странице ${page} пусто, а решения ждут: ${pluralize(total, POSTS)}. С начала: vslukh reports`
  const open = id === '' ? [nothing] : [...waiting, ...howToDecide(id)]
  const done = decided.map(
    (row) =>
      `${row.post_id}  ${OUTCOMES[row.state]} ${formatOperatorTime(row.decided_at)}, ${pluralize(row.reports, REPORTS)}: ${firstLine(row.text)}`,
  )
  const last = first + posts.length
  const next = last < total ? `, дальше: vslukh reports --page ${page + 1}` : ''
  const rest =
    id !== '' && total > posts.length ? [`Показаны ${first + 1}–${last} из ${total}${next}`] : []
  return {
    lines: [...open, ...rest, ...(done.length > 0 ? ['', 'Решённые:', ...done] : [])],
    json: { posts, total, ...(showsDecided && { decided }) },
  }
}

const OUTCOMES = { removed: 'удалена', kept: 'оставлена' } as const
const STATES = {
  published: '',
  hidden: ', скрыта',
  removed: ', удалена',
  deleted: ', удалил автор',
}

const howToDecide = (id: string) => [
  `Решить: vslukh report ${id} remove --reason "Спам", или keep; номеров может быть много.`,
  `Подробнее: vslukh post ${id}`,
]

export function queuedPostLines(post: QueuedPost): string[] {
  const { author, appeal } = post
  const block = author.block ? ', не может писать' : ''
  return [
    `${post.id}  ${author.username}${block}, ${formatOperatorTime(post.createdAt)}${STATES[post.state]}`,
    ...reportLines(post),
    ...(appeal
      ? indentLines(
          `Обжалование от ${formatOperatorTime(appeal.createdAt)}, удалена за: ${appeal.removedFor}\n«${appeal.text}»`,
        )
      : []),
    ...indentLines(post.text),
    ...(post.reportedText === null ? [] : indentLines(`Когда жаловались: ${post.reportedText}`)),
  ]
}

function reportLines({ reasons, reporters, since, comments }: QueuedPost): string[] {
  const reported = reasons.reduce((sum, reason) => sum + reason.count, 0)
  if (reported === 0) return []
  const byReason = reasons.map(({ name, count }) => `${name} × ${count}`).join(', ')
  return [
    `    ${pluralize(reported, REPORTS)} (${pluralize(reporters, ACCOUNTS)}) с ${formatOperatorTime(since)}: ${byReason}`,
    ...comments.flatMap((comment) => indentLines(`«${comment}»`)),
  ]
}

export const report: Command = {
  summary: 'решает все жалобы на запись и её обжалование; автор и авторы жалоб узнают об этом',
  needs: 'wall',
  forms: {
    'report НОМЕР… remove [--reason ПРИЧИНА] [--block-days ДНЕЙ] [--note ТЕКСТ] [--order ТЕКСТ] [--quiet]':
      (context) => decideAll(context, 'remove'),
    'report НОМЕР… keep [--note ТЕКСТ] [--quiet]': (context) => decideAll(context, 'keep'),
  },
}

/** Decides each post in its own transaction, so that a failed decision does not undo the others. */
async function decideAll(context: Context, verdict: Verdict): Promise<Output> {
  const ids = [...new Set(context.words)]
  const wrong = ids.find((id) => !isRowId(id))
  if (wrong !== undefined) throw new UsageError(`«${wrong}» — не номер записи`)
  const decision = await readDecision(context, ids.join(', '), verdict)
  await confirmBlock(context, decision)
  if (verdict === 'keep') for (const id of ids) await confirmDespiteOrder(context, id)
  const decideOne = async (postId: string) =>
    outcomeOf(
      verdict,
      await commit(context, (tx) => decide(tx, { ...decision, postId })).catch(explain),
    )
  const [first = '', ...others] = ids
  const outcomes: (Outcome & { postId: string })[] = []
  try {
    if (others.length === 0) return await decideOne(first)
    for (const postId of ids) {
      outcomes.push({ postId, ...(await decideOne(postId).catch(failureOf)) })
    }
  } finally {
    await publishChange(context, { kind: verdict === 'remove' ? 'removed' : 'edited' })
  }
  return {
    lines: outcomes.map(({ postId, lines }) => `${postId}: ${lines.join(' ')}`),
    json: outcomes.map(({ postId, json }) => ({ postId, ...json })),
    isBroken: outcomes.some(({ isBroken }) => isBroken),
  }
}

/** The post may well exist, so the message states only what is missing. */
function explain(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'POST_NOT_FOUND') throw error
  throw new AppError('POST_NOT_FOUND', { message: 'Открытых жалоб и обжалования нет.' })
}

type Outcome = Output & { json: object }

function failureOf(error: unknown): Outcome {
  if (!(error instanceof AppError)) throw error
  return { lines: [error.message], json: { error: error.message }, isBroken: true }
}

export async function readDecision(
  context: Context,
  postId: string,
  verdict: Verdict,
): Promise<NewDecision> {
  const { 'block-days': days, note, order, quiet } = context.options
  return {
    postId,
    verdict,
    actor: context.actor,
    reason: await readReason(context),
    block: days === undefined ? undefined : { days },
    note,
    order,
    ...(quiet && { notifies: 'nobody' as const }),
    removedDays: context.config.removedDays,
  }
}

/** Returns `--reason`, or the report reason with that number. May throw UsageError. */
export async function readReason(context: Context): Promise<string | undefined> {
  const { reason: text } = context.options
  if (text === undefined || !/^\d+$/.test(text)) return text
  const reasons = await selectReasons(context.db)
  const reason = reasons.find(({ id }) => id === text)
  if (reason) return reason.name
  const list = reasons.map(({ id, name }) => `${id} — ${name}`).join(', ')
  throw new UsageError(`--reason: нужны слова или номер причины: ${list}`)
}

/** Asks before a block, because it closes the author's sessions for good. */
export async function confirmBlock(
  { confirm }: Context,
  { postId, verdict, block }: Pick<NewDecision, 'postId' | 'verdict' | 'block'>,
): Promise<void> {
  if (verdict === 'keep' || block === undefined) return
  await confirm(
    `Удалить запись ${postId} и закрыть автору возможность писать? Все сессии автора завершатся.`,
  )
}

/** Asks before a post returns that an authority has ordered to remove. */
export async function confirmDespiteOrder({ db, confirm }: Context, postId: string): Promise<void> {
  const acts = await readJournal(db, { postId })
  const returned = acts.findIndex(({ action }) => action === 'post.restore')
  const since = returned < 0 ? acts : acts.slice(0, returned)
  const ordered = since.find(({ action, details }) => action === 'post.remove' && details.order)
  if (!ordered) return
  await confirm(
    `Запись ${postId} удалена по требованию: ${ordered.details.order}. Вернуть её на стену?`,
  )
}

export function outcomeOf(verdict: Verdict, { id, was }: DecisionResult): Outcome {
  const line = verdict === 'remove' ? 'Запись удалена.' : KEPT[was]
  return { lines: [line], json: { id, was } }
}

const KEPT = {
  published: 'Запись оставлена.',
  hidden: 'Запись возвращена.',
  removed: 'Запись возвращена.',
  deleted: 'Жалобы закрыты.',
}
