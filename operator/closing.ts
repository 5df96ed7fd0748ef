import {
  closeSite,
  invite as inviteOne,
  openSite,
} from '../server/features/site-state/site-state.service.ts'
import { originOf } from '../server/kernel/config/config.ts'
import type { Command, Context, Output } from './command.ts'
import { change, daysOf, requireWords, textOf } from './command.ts'
import { UsageError } from './command-errors.ts'
import { time } from './format.ts'

type Part = 'registrations' | 'writing'

const NAMES: Record<Part, string> = { registrations: 'Регистрация', writing: 'Запись на стену' }
const INVITATION_DAYS = 7

export const close: Command = {
  usage: ['close registrations --reason ПРИЧИНА', 'close writing --reason ПРИЧИНА'],
  summary: 'закрывает регистрацию или запись на стену; причину видят все',
  options: ['reason='],
  async run(context: Context): Promise<Output> {
    const part = partOf(context)
    const reason = textOf(context, 'reason')
    if (!reason?.trim()) throw new UsageError('нужна причина: --reason')
    await change(context, (tx) => closeSite(tx, { part, reason, actor: context.actor }))
    return { lines: [`${NAMES[part]} закрыта: ${reason}`], json: { part, reason } }
  },
}

export const open: Command = {
  usage: ['open registrations', 'open writing'],
  summary: 'открывает регистрацию или запись на стену снова',
  async run(context: Context): Promise<Output> {
    const part = partOf(context)
    await change(context, (tx) => openSite(tx, { part, actor: context.actor }))
    return { lines: [`${NAMES[part]} открыта.`], json: { part } }
  },
}

export const invite: Command = {
  usage: ['invite [--days ДНЕЙ]'],
  summary: 'приглашение: по ссылке зарегистрируется один человек, пока регистрация закрыта',
  options: ['days='],
  async run(context: Context): Promise<Output> {
    requireWords(context, 0)
    const { config, actor } = context
    const days = daysOf(context, 'days') ?? INVITATION_DAYS
    const invitation = await change(context, (tx) =>
      inviteOne(tx, { days, origin: originOf(config), actor }),
    )
    const { link, expiresAt } = invitation
    return {
      lines: [link, `Действует до ${time(expiresAt)}, для одного человека.`],
      json: invitation,
    }
  },
}

function partOf(context: Context): Part {
  requireWords(context, 1)
  const [part] = context.words
  if (part !== 'registrations' && part !== 'writing') {
    throw new UsageError('нужно registrations или writing')
  }
  return part
}
