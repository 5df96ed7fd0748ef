import { type BanKind, selectBans } from '../server/features/site-state/site-state.repository.ts'
import { addBan, isSweeping, removeBan } from '../server/features/site-state/site-state.service.ts'
import { isRowId } from '../server/kernel/db/database.ts'
import type { Command, Context, Output } from './command.ts'
import {
  actOf,
  change,
  daysOf,
  listed,
  Refusal,
  requireWords,
  textOf,
  UsageError,
} from './command.ts'
import { printable, time } from './format.ts'

const KINDS: Record<BanKind, string> = { domain: 'домен', network: 'сеть', email: 'почта' }

export const ban: Command = {
  usage: [
    'ban list',
    'ban add domain|network|email ЗНАЧЕНИЕ [--reason ПРИЧИНА] [--days ДНЕЙ]',
    'ban remove НОМЕР',
  ],
  summary: 'откуда нельзя зарегистрироваться',
  options: ['reason=', 'days='],
  async run(context: Context): Promise<Output> {
    return actOf({ list, add, remove }, context.words[0])(context)
  },
}

async function list(context: Context): Promise<Output> {
  requireWords(context, 1)
  const bans = await selectBans(context.db)
  const lines = bans.map(
    ({ id, kind, value, until, reason, actor }) =>
      `${id}  ${KINDS[kind]} ${printable(value)}, ${endOf(until)}` +
      `${reason === null ? '' : `. ${printable(reason)}`}${actor === null ? '' : ` (${printable(actor)})`}`,
  )
  return listed(lines, 'Запретов нет.', bans)
}

async function add(context: Context): Promise<Output> {
  requireWords(context, 3)
  const [, kind = '', value = ''] = context.words
  if (!isKind(kind)) throw new UsageError('нужно domain, network или email')
  const days = daysOf(context, 'days') ?? null
  const reason = textOf(context, 'reason') ?? null
  const { actor } = context
  if (isSweeping(kind, value)) {
    await context.confirm(`Под запрет «${value}» попадёт очень много людей. Всё равно запретить?`)
  }
  const added = await change(context, (tx) => addBan(tx, { kind, value, days, reason, actor }))
  if (added === undefined) throw new UsageError(`«${value}» — не ${KINDS[kind]}`)
  const { id, until } = added
  const line = `Отсюда больше не зарегистрироваться: ${value}, ${endOf(until)} (запрет ${id}).`
  return { lines: [line], json: added }
}

function endOf(until: Date | null): string {
  return until ? `до ${time(until)}` : 'бессрочно'
}

async function remove(context: Context): Promise<Output> {
  requireWords(context, 2)
  const [, id = ''] = context.words
  const { actor } = context
  const was = isRowId(id) && (await change(context, (tx) => removeBan(tx, { id, actor })))
  if (!was) throw new Refusal(`Запрета ${id} нет.`)
  return { lines: [`Запрет ${id} снят.`], json: { id } }
}

function isKind(kind: string): kind is BanKind {
  return Object.hasOwn(KINDS, kind)
}
