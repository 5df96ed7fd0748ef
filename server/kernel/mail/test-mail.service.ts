import type { Config } from '../config/config.ts'
import { readDkim } from './dkim.ts'
import { writeMail } from './mail-body.ts'
import type { OnEntry } from './relay.ts'
import { createSmtpSender, toMessage } from './smtp.ts'
import { explainSmtp } from './smtp-advice.ts'

export type TestMail = { steps: string[]; failure: { message: string; fix: string } | null }

type Setup = Pick<Config, 'appName' | 'mailFrom' | 'dkim'> &
  Partial<Pick<Config, 'publicUrl'>> & { smtpUrl: string }

/** Sends a mail as codes are sent, and returns its failure. Rejects only with StartError. */
export async function sendTestMail(
  to: string,
  { smtpUrl, publicUrl, appName, mailFrom, dkim }: Setup,
): Promise<TestMail> {
  const steps: string[] = []
  const onEntry: OnEntry = (...entry) => {
    const step = stepOf(...entry)
    if (step !== undefined) steps.push(step)
  }
  const relay = { url: smtpUrl, publicUrl }
  const send = createSmtpSender(relay, { dkim: await readDkim({ dkim, mailFrom }), onEntry })
  const lines = ['Это проверка почты: раз письмо дошло, дойдут и коды.']
  const options = { appName, origin: publicUrl ?? 'http://localhost' }
  const mail = writeMail({ to, subject: 'Проверка почты' }, lines, options)
  try {
    const response = await send(toMessage(mail, { name: appName, address: mailFrom }))
    steps.push(`Письмо принято сервером: ${response}`)
    return { steps, failure: null }
  } catch (error) {
    return { steps, failure: explainSmtp(error as NodeJS.ErrnoException) }
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
