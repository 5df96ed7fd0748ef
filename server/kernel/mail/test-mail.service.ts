import type { Config } from '../config/config.ts'
import { readDkim } from './dkim.ts'
import { writeBody } from './mail-body.ts'
import { smtpSender, toMessage } from './smtp.ts'
import { smtpAdvice, smtpReason } from './smtp-advice.ts'
import type { OnEntry } from './smtp-options.ts'

export type TestMail = { steps: string[]; failure: { message: string; fix: string } | null }

/** Sends a mail the way codes are sent. Rejects with StartError alone. */
export async function sendTestMail(
  to: string,
  {
    smtpUrl,
    publicUrl,
    appName,
    mailFrom,
    dkim,
  }: Pick<Config, 'appName' | 'mailFrom' | 'dkim'> & {
    smtpUrl: string
    publicUrl?: string | undefined
  },
): Promise<TestMail> {
  const steps: string[] = []
  const onEntry: OnEntry = (...entry) => {
    const step = stepOf(...entry)
    if (step !== undefined) steps.push(step)
  }
  const relay = { url: smtpUrl, publicUrl }
  const send = smtpSender(relay, { dkim: await readDkim({ dkim, mailFrom }), onEntry })
  const body = writeBody(
    ['Это проверка почты: раз письмо дошло, дойдут и коды.'],
    publicUrl ?? 'http://localhost',
  )
  const mail = { to, subject: `Проверка почты · ${appName}`, ...body }
  try {
    const response = await send(toMessage(mail, { name: appName, address: mailFrom }))
    steps.push(`Письмо принято сервером: ${response}`)
    return { steps, failure: null }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return {
      steps,
      failure: { message: smtpReason({ message }), fix: smtpAdvice({ code, message }) },
    }
  }
}

function stepOf(...[{ tnx, action }, message, values]: Parameters<OnEntry>): string | undefined {
  if (tnx === 'network' && message.startsWith('%s established')) {
    const [kind, address, port] = values
    const secured = kind === 'Secure connection' ? ', сразу с TLS' : ''
    return `Соединение с ${address}, порт ${port}: есть${secured}`
  }
  if (message.startsWith('Connection upgraded')) return 'Шифрование (STARTTLS): включено'
  if (tnx === 'smtp' && action === 'authenticated') return 'Вход: имя и пароль приняты'
  return undefined
}
