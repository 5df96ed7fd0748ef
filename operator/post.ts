import { decide } from '../server/features/moderation/decisions.service.ts'
import { readWaitingPost } from '../server/features/moderation/moderation.service.ts'
import { selectRecentPosts, selectSubject } from '../server/features/moderation/queue.repository.ts'
import { removeWave } from '../server/features/moderation/wave.service.ts'
import type { Queryable } from '../server/kernel/db/database.ts'
import { pluralize } from '../server/kernel/errors/words.ts'
import { readJournal } from '../server/kernel/journal/journal.ts'
import type { Command, Context, Output } from './command.ts'
import { commit, commitAndPublish, publishChange, Refusal } from './command.ts'
import { POSTS } from './format.ts'
import { actLines } from './journal.ts'
import { requirePerson } from './people.ts'
import {
  confirmBlock,
  confirmDespiteOrder,
  outcomeOf,
  queuedPostLines,
  readDecision,
} from './reports.ts'

export const post: Command = {
  summary: 'показывает, удаляет или возвращает любую запись; удаляет волну записей одного человека',
  needs: 'wall',
  forms: {
    'post remove --user КТО --since 2h [--reason ПРИЧИНА] [--block-days ДНЕЙ] [--note ТЕКСТ] [--quiet]':
      removeAll,
    'post НОМЕР [show]': show,
    'post НОМЕР remove [--reason ПРИЧИНА] [--block-days ДНЕЙ] [--note ТЕКСТ] [--order ТЕКСТ] [--quiet]':
      remove,
    'post НОМЕР restore [--note ТЕКСТ] [--quiet]': restore,
  },
}

const STATES = {
  published: 'на стене',
  hidden: 'скрыта из-за жалоб',
  removed: 'удалена модератором',
  deleted: 'удалена автором',
} as const

async function show({ db, words: [id = ''] }: Context): Promise<Output> {
  const subject = await selectSubject(db, id)
  if (!subject) throw new Refusal(`Записи ${id} нет ни на стене, ни в архиве.`)
  const waiting = await readWaitingPost(db, id)
  const acts = await readJournal(db, { postId: id })
  const reason = subject.reason ? `, причина: ${subject.reason}` : ''
  return {
    lines: [
      `Запись ${id}: ${STATES[subject.state]}${reason}`,
      `Автор: ${subject.username} (${subject.owner_id})`,
      '',
      ...(waiting ? queuedPostLines(waiting) : [subject.text]),
      ...(acts.length > 0 ? ['', 'Журнал:', ...acts.flatMap(actLines)] : []),
    ],
    json: { id, ...subject, waiting: waiting ?? null, journal: acts },
  }
}

async function remove(context: Context): Promise<Output> {
  const [id = ''] = context.words
  const subject = await selectSubject(context.db, id)
  if (!subject) throw new Refusal(`Записи ${id} нет ни на стене, ни в архиве.`)
  if (subject.state === 'removed') throw new Refusal(`Запись ${id} уже удалена.`)
  const decision = await readDecision(context, id, 'remove')
  await confirmBlock(context, decision)
  const work = (tx: Queryable) => decide(tx, { ...decision, isAnyPost: true })
  return outcomeOf('remove', await commitAndPublish(context, work, { kind: 'removed', postId: id }))
}

async function restore(context: Context): Promise<Output> {
  const [id = ''] = context.words
  const subject = await selectSubject(context.db, id)
  if (subject?.state !== 'removed' && subject?.state !== 'hidden') {
    throw new Refusal(
      `Запись ${id} нельзя вернуть: ${subject ? STATES[subject.state] : 'её нет в архиве'}.`,
    )
  }
  await confirmDespiteOrder(context, id)
  const decision = await readDecision(context, id, 'keep')
  const decided = await commitAndPublish(context, (tx) =>
    decide(tx, { ...decision, isAnyPost: true }),
  )
  return outcomeOf('keep', decided)
}

async function removeAll(context: Context): Promise<Output> {
  const { since: seconds = 0, user = '' } = context.options
  const person = await requirePerson(context, user)
  const ids = await selectRecentPosts(context.db, person.id, { seconds, limit: null })
  if (ids.length === 0) return { lines: ['За это время записей нет.'], json: { removed: [] } }
  await context.confirm(waveQuestion(context, ids.length, person.username))
  const decision = await readDecision(context, '', 'remove')
  try {
    const removed = await removeWave((work) => commit(context, work), { ...decision, ids })
    return { lines: [`Удалено: ${pluralize(removed.length, POSTS)}.`], json: { removed } }
  } finally {
    // Notifies the nodes once for all removed posts, even if a later removal has failed.
    await publishChange(context, { kind: 'removed' })
  }
}

function waveQuestion(context: Context, posts: number, username: string): string {
  const question = `Удалить ${pluralize(posts, POSTS)} пользователя ${username}`
  const isBlocking = context.options['block-days'] !== undefined
  return isBlocking
    ? `${question} и закрыть ему возможность писать? Все его сессии завершатся.`
    : `${question}?`
}
