import {
  addModerator,
  hadModerator,
  removeModerator,
  selectModerators,
} from '../server/features/moderation/moderators.repository.ts'
import { formatOperatorTime } from '../server/kernel/errors/words.ts'
import type { Command, Context, Output } from './command.ts'
import { commitAndPublish, listOutput, Refusal, readEmail } from './command.ts'

export const moderator: Command = {
  summary: 'кто видит жалобы в браузере',
  needs: 'wall',
  forms: {
    'moderator list': list,
    'moderator add ПОЧТА [--first] [--unmarked]': add,
    'moderator remove ПОЧТА': remove,
  },
}

async function list(context: Context): Promise<Output> {
  const moderators = await selectModerators(context.db)
  const lines = moderators.map(
    ({ email, username, is_blocked, is_marked, added_at }) =>
      `${email}  ${username ?? 'ещё не регистрировался'}${is_blocked ? ', не может писать' : ''}${is_marked ? '' : ', без пометки'}, с ${formatOperatorTime(added_at)}`,
  )
  return listOutput(lines, 'Модераторов нет.', moderators)
}

async function add(context: Context): Promise<Output> {
  const email = readEmail(context.words[0])
  if (context.options.first && (await hadModerator(context.db))) {
    return { lines: ['Модераторы уже назначались.'], json: { email, isAdded: false } }
  }
  const isNew = await commitAndPublish(context, (tx) =>
    addModerator(tx, { email, actor: context.actor, isMarked: !context.options.unmarked }),
  )
  if (!isNew) throw new Refusal(`${email} уже среди модераторов.`)
  return { lines: [`${email} теперь видит жалобы.`], json: { email, isAdded: true } }
}

async function remove(context: Context): Promise<Output> {
  const email = readEmail(context.words[0])
  const was = await commitAndPublish(context, (tx) =>
    removeModerator(tx, { email, actor: context.actor }),
  )
  if (!was) throw new Refusal(`${email} нет среди модераторов.`)
  const isNamed = context.config.moderatorEmails.some(
    (one) => one.toLowerCase() === email.toLowerCase(),
  )
  const lines = [`${email} больше не видит жалобы и не получает писем о них.`]
  if (isNamed)
    lines.push(
      'Этот адрес стоит в MODERATOR_EMAIL: назовите там другой, чтобы письма кто-то получал.',
    )
  return { lines, json: { email } }
}
