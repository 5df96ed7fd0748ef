import { isEmail } from '../contract/account-rules.ts'
import {
  addModerator,
  removeModerator,
  selectModerators,
} from '../server/features/moderation/moderators.repository.ts'
import type { Command, Context, Output } from './command.ts'
import { actOf, change, listed, Refusal, requireWords, UsageError } from './command.ts'
import { time } from './format.ts'

export const moderator: Command = {
  usage: ['moderator list', 'moderator add ПОЧТА', 'moderator remove ПОЧТА'],
  summary: 'кто видит жалобы в браузере',
  async run(context: Context): Promise<Output> {
    return actOf({ list, add, remove }, context.words[0])(context)
  },
}

async function list(context: Context): Promise<Output> {
  requireWords(context, 1)
  const moderators = await selectModerators(context.db)
  const lines = moderators.map(
    ({ email, username, added_at }) =>
      `${email}  ${username ?? 'ещё не регистрировался'}, с ${time(added_at)}`,
  )
  return listed(lines, 'Модераторов нет.', moderators)
}

function emailOf(context: Context): string {
  requireWords(context, 2)
  const [, email = ''] = context.words
  if (!isEmail(email)) throw new UsageError(`«${email}» — не адрес почты`)
  return email
}

async function add(context: Context): Promise<Output> {
  const email = emailOf(context)
  const isNew = await change(context, (tx) => addModerator(tx, { email, actor: context.actor }))
  if (!isNew) throw new Refusal(`${email} уже среди модераторов.`)
  return { lines: [`${email} теперь видит жалобы.`], json: { email } }
}

async function remove(context: Context): Promise<Output> {
  const email = emailOf(context)
  const was = await change(context, (tx) => removeModerator(tx, { email, actor: context.actor }))
  if (!was) throw new Refusal(`${email} нет среди модераторов.`)
  return { lines: [`${email} больше не видит жалобы.`], json: { email } }
}
