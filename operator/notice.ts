import { type Notice, selectNotice } from '../server/features/site-state/site-state.repository.ts'
import {
  clearNotice,
  NOTICE_MAX,
  showNotice,
} from '../server/features/site-state/site-state.service.ts'
import type { Command, Context, Output } from './command.ts'
import { change, requireWords, secondsOf } from './command.ts'
import { UsageError } from './command-errors.ts'
import { time } from './format.ts'

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
