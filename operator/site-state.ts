import { INVITE_ONLY } from '../contract/pages.ts'
import {
  type Notice,
  selectInvitations,
  selectNotice,
} from '../server/features/site-state/site-state.repository.ts'
import {
  clearNotice,
  closeSite,
  invite as inviteMore,
  NOTICE_MAX,
  openSite,
  revokeInvitation,
  showNotice,
} from '../server/features/site-state/site-state.service.ts'
import { originOf } from '../server/kernel/config/config.ts'
import { isRowId } from '../server/kernel/db/database.ts'
import { counted } from '../server/kernel/errors/words.ts'
import type { Command, Context, Output } from './command.ts'
import {
  actOf,
  change,
  daysOf,
  listed,
  numberOf,
  Refusal,
  requireWords,
  secondsOf,
  textOf,
  UsageError,
} from './command.ts'
import { OF_PEOPLE, printable, time } from './format.ts'

const PARTS = { registrations: 'registrations', writing: 'writing' } as const
type Part = keyof typeof PARTS

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
  usage: ['open registrations', 'open registrations --invite-only', 'open writing'],
  summary: 'открывает регистрацию, всем или только приглашённым, и запись на стену',
  options: ['invite-only'],
  async run(context: Context): Promise<Output> {
    const part = partOf(context)
    const isInviteOnly = context.values['invite-only'] === true
    if (isInviteOnly && part === 'writing') {
      throw new UsageError('--invite-only бывает только у registrations')
    }
    await change(context, (tx) => openSite(tx, { part, isInviteOnly, actor: context.actor }))
    const line = isInviteOnly
      ? `${INVITE_ONLY}. Пригласить: vslukh invite`
      : `${NAMES[part]} открыта.`
    return { lines: [line], json: { part, isInviteOnly } }
  },
}

export const invite: Command = {
  usage: [
    'invite [--days ДНЕЙ] [--uses ЧИСЛО] [--note ТЕКСТ]',
    'invite list',
    'invite revoke НОМЕР',
  ],
  summary: 'приглашение: по ссылке регистрируются, пока регистрация закрыта или по приглашениям',
  options: ['days=', 'uses=', 'note='],
  async run(context: Context): Promise<Output> {
    const [what] = context.words
    if (what === 'list') return list(context)
    if (what === 'revoke') return revoke(context)
    requireWords(context, 0)
    return add(context)
  },
}

async function add(context: Context): Promise<Output> {
  const { config, actor } = context
  const days = daysOf(context, 'days') ?? INVITATION_DAYS
  const uses = numberOf(context, 'uses', 'число людей') ?? 1
  const note = textOf(context, 'note') ?? null
  const invitation = await change(context, (tx) =>
    inviteMore(tx, { days, uses, note, origin: originOf(config), actor }),
  )
  const { link, id, until } = invitation
  const forWhom = uses === 1 ? 'одного человека' : counted(uses, OF_PEOPLE)
  return {
    lines: [link, `Приглашение ${id} действует до ${time(until)}, для ${forWhom}.`],
    json: invitation,
  }
}

async function list(context: Context): Promise<Output> {
  requireWords(context, 1)
  const invitations = await selectInvitations(context.db)
  const lines = invitations.map(
    ({ id, note, uses, usesLeft, until }) =>
      `${id}  осталось ${usesLeft} из ${uses}, до ${time(until)}${note === null ? '' : `. ${printable(note)}`}`,
  )
  return listed(lines, 'Приглашений нет.', invitations)
}

async function revoke(context: Context): Promise<Output> {
  requireWords(context, 2)
  const [, id = ''] = context.words
  const { actor } = context
  const was = isRowId(id) && (await change(context, (tx) => revokeInvitation(tx, { id, actor })))
  if (!was) throw new Refusal(`Приглашения ${id} нет.`)
  return { lines: [`Приглашение ${id} отозвано.`], json: { id } }
}

function partOf(context: Context): Part {
  requireWords(context, 1)
  return actOf<Part>(PARTS, context.words[0])
}

export const notice: Command = {
  usage: ['notice', 'notice ТЕКСТ [--until ВРЕМЯ]', 'notice clear'],
  summary: 'объявление: одна строка под шапкой, её видят все',
  options: ['until='],
  async run(context: Context): Promise<Output> {
    requireWords(context, 0, 1)
    const { words, actor } = context
    const [text] = words
    const seconds = secondsOf(context, 'until')
    if (text !== undefined && text !== 'clear') {
      const shown = await change(context, (tx) => showNotice(tx, { text, seconds, actor }))
      if (shown) return outputOf(shown)
      throw new UsageError(
        `объявление — одна строка с видимыми символами, не длиннее ${NOTICE_MAX}`,
      )
    }
    if (seconds !== undefined) throw new UsageError('--until: нужен текст объявления')
    if (text === undefined) return outputOf(await selectNotice(context.db))
    await change(context, (tx) => clearNotice(tx, { actor }))
    return { lines: ['Объявление снято.'], json: { notice: null } }
  },
}

function outputOf(shown: Notice | undefined): Output {
  if (!shown) return { lines: ['Объявления нет.'], json: { notice: null } }
  const { text, until } = shown
  const end = until ? `До ${time(until)}.` : 'Пока вы его не снимете: vslukh notice clear'
  return { lines: [`Под шапкой у всех: ${text}`, end], json: { notice: { text, until } } }
}
