import { readAccesses } from '../server/kernel/journal/access-journal.ts'
import { ACTS_MAX, appendToJournal, readJournal } from '../server/kernel/journal/journal.ts'
import type { Command, Context, Output } from './command.ts'
import { commit, requireWords, secondsOf, textOf } from './command.ts'
import { Refusal, UsageError } from './command-errors.ts'
import { time } from './format.ts'
import { accessLine, actLines } from './journal-words.ts'
import { findPerson } from './person.ts'

export const journal: Command = {
  usage: [
    'journal [--user КТО] [--post НОМЕР] [--since 7d]',
    'journal --access [--user КТО] [--post НОМЕР] [--since 7d]',
  ],
  summary: 'кто, когда, что и почему; новое сверху; --access — адреса входов и записей людей',
  options: ['user=', 'post=', 'since=', 'access'],
  async run(context: Context): Promise<Output> {
    requireWords(context, 0)
    const filter = await filterOf(context)
    if (context.values.access === true) return accesses(context, filter)
    const acts = await readJournal(context.db, filter)
    return outputOf(acts, acts.flatMap(actLines))
  },
}

type Filter = { userId?: string; postId?: string; sinceSeconds?: number }

/** Shows what ACCESS_JOURNAL_DAYS keeps. To read it is an act for the journal itself. */
async function accesses(context: Context, filter: Filter): Promise<Output> {
  const { actor, db } = context
  const read = await commit(context, async (tx) => {
    await appendToJournal(tx, { actor, action: 'access.read', ...filter })
    return readAccesses(db, filter)
  })
  return outputOf(read, read.map(accessLine))
}

function outputOf(acts: { at: Date }[], lines: string[]): Output {
  if (acts.length === 0) return { lines: ['В журнале ничего нет.'], json: acts }
  const oldest = acts.at(-1)
  const rest =
    acts.length < ACTS_MAX || !oldest
      ? []
      : [
          `… показаны последние ${ACTS_MAX}, с ${time(oldest.at)}. Сузьте: --user, --post или --since.`,
        ]
  return { lines: [...lines, ...rest], json: acts }
}

async function filterOf(context: Context): Promise<Filter> {
  const postId = textOf(context, 'post')
  if (postId !== undefined && !/^\d{1,18}$/.test(postId)) {
    throw new UsageError('--post: нужен номер записи')
  }
  const sinceSeconds = secondsOf(context, 'since')
  const userId = await idOf(context)
  return {
    ...(userId !== undefined && { userId }),
    ...(postId !== undefined && { postId }),
    ...(sinceSeconds !== undefined && { sinceSeconds }),
  }
}

async function idOf(context: Context): Promise<string | undefined> {
  const known = textOf(context, 'user')
  if (known === undefined) return undefined
  const person = await findPerson(context, known)
  if (person) return person.id
  // A deleted account still stands in the journal under its number.
  if (/^\d{1,18}$/.test(known)) return known
  throw new Refusal(`Пользователя ${known} нет.`)
}
