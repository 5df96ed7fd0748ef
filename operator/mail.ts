import { isEmail } from '../contract/account-rules.ts'
import { sendTestMail } from '../server/mail/test-mail.service.ts'
import type { Command, ContextWithoutWall, Output } from './command.ts'
import { requireWords } from './command.ts'
import { printable } from './format.ts'
import { Refusal, UsageError } from './refusal.ts'

export const mail: Command = {
  usage: ['mail test ADDRESS'],
  summary: 'отправляет письмо так, как отправляются коды, и показывает каждый шаг',
  async runWithoutWall(context: ContextWithoutWall): Promise<Output> {
    const [what, address = ''] = context.words
    if (what !== 'test') throw new UsageError('нужно test')
    requireWords(context, 2)
    if (!isEmail(address)) throw new UsageError(`${address} — не адрес почты`)
    const { smtpUrl } = context.config
    if (smtpUrl === undefined) {
      throw new Refusal('SMTP_URL не задан: письма печатаются и сохраняются в DATA_DIR/mail.')
    }
    if (context.isDryRun) return { lines: [`Письмо для ${address}`], json: { address } }
    const { steps, failure } = await sendTestMail(address, { ...context.config, smtpUrl })
    const lines = steps.map((step) => `✓ ${printable(step)}`)
    if (failure) lines.push(`✗ ${printable(failure.says)}. ${failure.mend}.`)
    return { lines, json: { steps, failure }, isBroken: failure !== null }
  },
}
