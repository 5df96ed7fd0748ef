import { isEmail } from '../contract/account-rules.ts'
import { addModerator, removeModerator } from '../server/features/moderation/moderation.service.ts'
import { selectModerators } from '../server/features/moderation/moderators.repository.ts'
import type { Command, Context, Output } from './command.ts'
import { change, requireWords } from './command.ts'
import { Refusal, UsageError } from './command-errors.ts'
import { time } from './format.ts'

export const moderator: Command = {
  usage: ['moderator list', 'moderator add ПОЧТА', 'moderator remove ПОЧТА'],
  summary: 'кто видит жалобы в браузере',
  async run(context: Context): Promise<Output> {
    const [what] = context.words
    if (what === 'list') return list(context)
    if (what !== 'add' && what !== 'remove') throw new UsageError('нужно list, add или remove')
    requireWords(context, 2)
    const [, email = ''] = context.words
    if (!isEmail(email)) throw new UsageError(`«${email}» — не адрес почты`)
    return what === 'add' ? add(context, email) : remove(context, email)
  },
}

async function list(context: Context): Promise<Output> {
  requireWords(context, 1)
  const moderators = await selectModerators(context.db)
  const lines = moderators.map(
    ({ email, username, added_at }) =>
      `${email}  ${username ?? 'ещё не регистрировался'}, с ${time(added_at)}`,
  )
  return { lines: lines.length > 0 ? lines : ['Модераторов нет.'], json: moderators }
}

async function add(context: Context, email: string): Promise<Output> {
  const isNew = await change(context, (tx) => addModerator(tx, { email, actor: context.actor }))
  if (!isNew) throw new Refusal(`${email} уже среди модераторов.`)
  return { lines: [`${email} теперь видит жалобы.`], json: { email } }
}

async function remove(context: Context, email: string): Promise<Output> {
  const was = await change(context, (tx) => removeModerator(tx, { email, actor: context.actor }))
  if (!was) throw new Refusal(`${email} нет среди модераторов.`)
  return { lines: [`${email} больше не видит жалобы.`], json: { email } }
}
