import { isEmail } from '../contract/account-rules.ts'
import { sendTestMail } from '../server/kernel/mail/test-mail.service.ts'
import type { Command, ContextWithoutWall, Output } from './command.ts'
import { requireWords } from './command.ts'
import { Refusal, UsageError } from './command-errors.ts'
import { printable } from './format.ts'
import { mailLog } from './mail-log.ts'

export const mail: Command = {
  usage: ['mail test АДРЕС', 'mail log [АДРЕС]'],
  summary: 'отправляет пробное письмо и показывает каждый шаг; говорит, что стало с письмами',
  async runWithoutWall(context: ContextWithoutWall): Promise<Output> {
    const [what, address] = context.words
    if (what !== 'test' && what !== 'log') throw new UsageError('нужно test или log')
    requireWords(context, what === 'test' ? 2 : 1, 2)
    if (address !== undefined && !isEmail(address)) {
      throw new UsageError(`${address} — не адрес почты`)
    }
    return what === 'log' ? mailLog(context, address) : testMail(context, address ?? '')
  },
}

async function testMail(context: ContextWithoutWall, address: string): Promise<Output> {
  const { smtpUrl } = context.config
  if (smtpUrl === undefined) {
    throw new Refusal('SMTP_URL не задан: письма печатаются и сохраняются в DATA_DIR/mail.')
  }
  if (context.isDryRun) return { lines: [`Письмо для ${address}`], json: { address } }
  const { steps, failure } = await sendTestMail(address, { ...context.config, smtpUrl })
  const lines = steps.map((step) => `✓ ${printable(step)}`)
  if (failure) lines.push(`✗ ${printable(failure.message)}. ${failure.fix}.`)
  return { lines, json: { steps, failure }, isBroken: failure !== null }
}
