import type { MailTransport } from '../mail/transport.ts'

/** A queued notice to the address an account has just left. */
export type EmailNotice = { to: string; username: string; expiresAt: number }

/** A notice is worth sending for three days: longer than most mail servers are ever down. */
export const NOTICE_TTL_MS = 3 * 86_400_000

/** Writes and sends a notice, or gives up when `signal` aborts. Rejects when it could not be sent. */
export async function sendEmailNotice(
  { to, username }: EmailNotice,
  signal: AbortSignal,
  { appName, transport }: { appName: string; transport: MailTransport },
): Promise<void> {
  const mail = {
    to,
    subject: `Почта учётной записи изменена · ${appName}`,
    text: [
      `Учётная запись ${username} на «${appName}» теперь привязана к другой почте.`,
      'Этот адрес больше не открывает к ней доступ.',
      '',
      'Если это сделали вы, ничего делать не нужно.',
      'Если нет, напишите тем, кто ведёт эту стену: кто-то получил доступ к вашей учётной записи.',
    ].join('\n'),
  }
  await transport.send(mail, signal)
}
