import { type BanKind, selectBans } from '../server/features/site-state/site-state.repository.ts'
import {
  addBan,
  isBanTooWide,
  isOwnNetwork,
  removeBan,
} from '../server/features/site-state/site-state.service.ts'
import { isRowId } from '../server/kernel/db/database.ts'
import type { Command, Context, Output } from './command.ts'
import { commitAndPublish, listOutput, Refusal, UsageError } from './command.ts'
import { untilText, withDomainInUnicode } from './format.ts'

const KINDS: Record<BanKind, string> = { domain: 'домен', network: 'сеть', email: 'почта' }

export const ban: Command = {
  summary: 'откуда нельзя зарегистрироваться; --all — из какой сети нельзя и читать',
  needs: 'wall',
  forms: {
    'ban list': list,
    'ban add domain|network|email ЗНАЧЕНИЕ [--reason ПРИЧИНА] [--days ДНЕЙ] [--for ВРЕМЯ] [--all]':
      add,
    'ban remove НОМЕР': remove,
  },
}

async function list(context: Context): Promise<Output> {
  const bans = await selectBans(context.db)
  const lines = bans.map(
    ({ id, kind, value, coversAll, until, reason, actor }) =>
      `${id}  ${KINDS[kind]} ${withDomainInUnicode(value)}${coversAll ? ', закрыто всё' : ''}, ${untilText(until)}` +
      `${reason === null ? '' : `. ${reason}`}${actor === null ? '' : ` (${actor})`}`,
  )
  return listOutput(lines, 'Запретов нет.', bans)
}

async function add(context: Context): Promise<Output> {
  const [kind, value] = context.words as [BanKind, string]
  const { all: coversAll = false, days, for: given, reason = null } = context.options
  if (coversAll) requireForeign(context, kind, value)
  const seconds = given ?? (days === undefined ? null : days * DAY_SECONDS)
  const { actor } = context
  if (isBanTooWide(kind, value)) {
    await context.confirm(`Под запрет «${value}» попадёт очень много людей. Всё равно запретить?`)
  }
  const added = await commitAndPublish(context, (tx) =>
    addBan(tx, { kind, value, coversAll, seconds, reason, actor }),
  )
  if (added === undefined) throw new UsageError(`«${value}» — не ${KINDS[kind]}`)
  const { id, until } = added
  const what = coversAll ? 'Отсюда больше ничего не открыть' : 'Отсюда больше не зарегистрироваться'
  const line = `${what}: ${value}, ${untilText(until)} (запрет ${id}).`
  return { lines: [line], json: added }
}

const DAY_SECONDS = 86_400
const LOOPBACK = ['127.0.0.1', '::1']

/** Throws unless the ban is of a network that contains neither this machine nor its proxy. */
function requireForeign({ config }: Context, kind: BanKind, value: string): void {
  if (kind !== 'network') throw new UsageError('--all бывает только у network')
  if (!isOwnNetwork(value, [...LOOPBACK, ...config.trustProxy])) return
  throw new Refusal(`В сети ${value} эта машина или её прокси: стена закрылась бы для всех.`)
}

async function remove(context: Context): Promise<Output> {
  const [id = ''] = context.words
  const { actor } = context
  const was = isRowId(id) && (await commitAndPublish(context, (tx) => removeBan(tx, { id, actor })))
  if (!was) throw new Refusal(`Запрета ${id} нет.`)
  return { lines: [`Запрет ${id} снят.`], json: { id } }
}
