import { formatDate } from '../contract/dates.ts'
import { INVITE_ONLY } from '../contract/pages.ts'
import {
  END_NOTICE_DAYS,
  type Notice,
  selectInvitations,
  selectNotice,
} from '../server/features/site-state/site-state.repository.ts'
import {
  clearNotice,
  closeSite,
  continueWall,
  endWall,
  invite as inviteMore,
  NOTICE_MAX,
  openSite,
  revokeInvitation,
  showNotice,
} from '../server/features/site-state/site-state.service.ts'
import { originOf } from '../server/kernel/config/config.ts'
import { isRowId } from '../server/kernel/db/database.ts'
import { formatOperatorTime, pluralize } from '../server/kernel/errors/words.ts'
import type { Command, Context, Output } from './command.ts'
import { commitAndPublish, listOutput, Refusal, UsageError } from './command.ts'
import { OF_PEOPLE } from './format.ts'

const NAMES = { registrations: 'Регистрация', writing: 'Запись на стену' }
type Part = keyof typeof NAMES

const INVITATION_DAYS = 7

export const close: Command = {
  summary:
    'закрывает регистрацию или запись, причину видят все; wall — всю стену в назначенный день',
  needs: 'wall',
  forms: {
    'close registrations|writing --reason ПРИЧИНА': closePart,
    'close wall --on ДЕНЬ': closeWall,
  },
}

async function closePart(context: Context): Promise<Output> {
  const [part] = context.words as [Part]
  const { reason = '' } = context.options
  await commitAndPublish(context, (tx) => closeSite(tx, { part, reason, actor: context.actor }))
  return { lines: [`${NAMES[part]} закрыта: ${reason}`], json: { part, reason } }
}

const DAY_MS = 86_400_000

async function closeWall(context: Context): Promise<Output> {
  const { actor, options } = context
  const { on } = options
  if (!on) throw new UsageError('нужен день: --on 2027-01-31')
  const told = new Date(on.getTime() - END_NOTICE_DAYS * DAY_MS)
  if (told < new Date()) {
    const earliest = formatDate(Date.now() + (END_NOTICE_DAYS + 1) * DAY_MS)
    throw new UsageError(
      `людям говорят за ${END_NOTICE_DAYS} дней, поэтому день — не раньше ${earliest}; закрыть запись сразу: vslukh close writing`,
    )
  }
  await commitAndPublish(context, (tx) => endWall(tx, { on, actor }))
  return {
    lines: [
      `Стена закроется ${formatDate(on)}, в полночь по Москве: с этого дня её можно только читать.`,
      `Под шапкой все увидят это с ${formatDate(told)}, со ссылкой на скачивание своего.`,
      'Передумали: vslukh open wall. Оставить страницы без сервера: vslukh archive ПАПКА',
    ],
    json: { on },
  }
}

async function openWall(context: Context): Promise<Output> {
  const was = await commitAndPublish(context, (tx) => continueWall(tx, context))
  if (!was) throw new Refusal('Стена и так не закрывается.')
  return { lines: ['Стена не закроется.'], json: { on: null } }
}

export const open: Command = {
  summary: 'открывает регистрацию, всем или приглашённым, и запись; wall — стена не закроется',
  needs: 'wall',
  forms: {
    'open registrations [--invite-only]': (context) => openPart(context, 'registrations'),
    'open writing': (context) => openPart(context, 'writing'),
    'open wall': openWall,
  },
}

async function openPart(context: Context, part: Part): Promise<Output> {
  const isInviteOnly = context.options['invite-only'] === true
  await commitAndPublish(context, (tx) =>
    openSite(tx, { part, isInviteOnly, actor: context.actor }),
  )
  const line = isInviteOnly
    ? `${INVITE_ONLY}. Пригласить: vslukh invite`
    : `${NAMES[part]} открыта.`
  return { lines: [line], json: { part, isInviteOnly } }
}

export const invite: Command = {
  summary: 'приглашение: по ссылке регистрируются, пока регистрация закрыта или по приглашениям',
  needs: 'wall',
  forms: {
    'invite [--days ДНЕЙ] [--uses ЧИСЛО] [--note ТЕКСТ]': add,
    'invite list': list,
    'invite revoke НОМЕР': revoke,
  },
}

async function add(context: Context): Promise<Output> {
  const { config, actor } = context
  const { days = INVITATION_DAYS, uses = 1, note = null } = context.options
  const invitation = await commitAndPublish(context, (tx) =>
    inviteMore(tx, { days, uses, note, origin: originOf(config), actor }),
  )
  const { link, id, until } = invitation
  const forWhom = uses === 1 ? 'одного человека' : pluralize(uses, OF_PEOPLE)
  return {
    lines: [link, `Приглашение ${id} действует до ${formatOperatorTime(until)}, для ${forWhom}.`],
    json: invitation,
  }
}

async function list(context: Context): Promise<Output> {
  const invitations = await selectInvitations(context.db)
  const lines = invitations.map(
    ({ id, note, uses, usesLeft, until }) =>
      `${id}  осталось ${usesLeft} из ${uses}, до ${formatOperatorTime(until)}${note === null ? '' : `. ${note}`}`,
  )
  return listOutput(lines, 'Приглашений нет.', invitations)
}

async function revoke(context: Context): Promise<Output> {
  const [id = ''] = context.words
  const { actor } = context
  const was =
    isRowId(id) && (await commitAndPublish(context, (tx) => revokeInvitation(tx, { id, actor })))
  if (!was) throw new Refusal(`Приглашения ${id} нет.`)
  return { lines: [`Приглашение ${id} отозвано.`], json: { id } }
}

export const notice: Command = {
  summary: 'объявление: одна строка под шапкой, её видят все',
  needs: 'wall',
  forms: {
    notice: async ({ db }) => outputOf(await selectNotice(db)),
    'notice clear': clear,
    'notice ТЕКСТ [--until ВРЕМЯ]': announce,
  },
}

async function clear(context: Context): Promise<Output> {
  await commitAndPublish(context, (tx) => clearNotice(tx, context))
  return { lines: ['Объявление снято.'], json: { notice: null } }
}

async function announce(context: Context): Promise<Output> {
  const [text = ''] = context.words
  const { until: seconds } = context.options
  const { actor } = context
  const shown = await commitAndPublish(context, (tx) => showNotice(tx, { text, seconds, actor }))
  if (shown) return outputOf(shown)
  throw new UsageError(`объявление — одна строка с видимыми символами, не длиннее ${NOTICE_MAX}`)
}

function outputOf(shown: Notice | undefined): Output {
  if (!shown) return { lines: ['Объявления нет.'], json: { notice: null } }
  const { text, until } = shown
  const end = until
    ? `До ${formatOperatorTime(until)}.`
    : 'Пока вы его не снимете: vslukh notice clear'
  return { lines: [`Под шапкой у всех: ${text}`, end], json: { notice: { text, until } } }
}
