import { readJournal } from '../server/journal/journal.ts'
import type { Command, Context, Output } from './command.ts'
import { requireWords, secondsOf, textOf } from './command.ts'
import { Refusal, UsageError } from './command-errors.ts'
import { firstLine, time } from './format.ts'
import { findPerson } from './person.ts'

export const journal: Command = {
  usage: ['journal [--user NAME|EMAIL|ID] [--post N] [--since 7d]'],
  summary: 'кто, когда, что и почему; новое сверху',
  options: ['user=', 'post=', 'since='],
  async run(context: Context): Promise<Output> {
    requireWords(context, 0)
    const postId = textOf(context, 'post')
    if (postId !== undefined && !/^\d{1,18}$/.test(postId)) {
      throw new UsageError('--post: нужен номер записи')
    }
    const sinceSeconds = secondsOf(context, 'since')
    const userId = await idOf(context)
    const acts = await readJournal(context.db, {
      ...(userId !== undefined && { userId }),
      ...(postId !== undefined && { postId }),
      ...(sinceSeconds !== undefined && { sinceSeconds }),
    })
    const lines = acts.map((act) => {
      const about = [
        act.post_id && `запись ${act.post_id}`,
        act.user_id && `человек ${act.user_id}`,
      ]
      const text = typeof act.details.text === 'string' ? ` «${firstLine(act.details.text)}»` : ''
      const reason = act.reason ? ` — ${firstLine(act.reason)}` : ''
      return `${time(act.at)}  ${act.actor}  ${act.action}  ${about.filter(Boolean).join(', ')}${reason}${text}`
    })
    return { lines: lines.length > 0 ? lines : ['В журнале ничего нет.'], json: acts }
  },
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
