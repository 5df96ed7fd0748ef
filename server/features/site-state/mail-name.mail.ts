import type { SiteState } from '../../../contract/pages.ts'
import type { Db } from '../../kernel/db/database.ts'
import type { MailOptions } from '../../kernel/mail/mail-words.ts'
import type { QueuedMail } from '../../kernel/mail/queue-mail.ts'
import type { Mail } from '../../kernel/mail/smtp.ts'
import { type MailName, readMailName } from './mail-name.service.ts'
import { selectSiteState } from './site-state.repository.ts'

/** The mail that tells the operator of refused mails. */
export const mailNameMails = (db: Db, options: MailOptions) => ({
  'send-refusals-mail': {
    write: async ({ to }: QueuedMail) => {
      const site = await selectSiteState(db)
      return writeRefusalsMail(to, { ...(await readMailName(db)), ...site }, options)
    },
  },
})

type Refusals = MailName & Pick<SiteState, 'registrationsClosed' | 'isInviteOnly'>

function writeRefusalsMail(
  to: string,
  { ended, refused, registrationsClosed, isInviteOnly }: Refusals,
  { appName, origin }: MailOptions,
): Mail {
  const next =
    registrationsClosed === null
      ? ['Если отказов станет больше 40 %, регистрация на час закроется сама.']
      : [
          `Регистрация закрыта: ${registrationsClosed}.`,
          `Открыть её раньше: vslukh open registrations${isInviteOnly ? ' --invite-only' : ''}`,
        ]
  const lines = [
    `На сайте ${origin} просят много кодов на адреса, которых нет. За час писем новым адресам: ${ended}, из них отклонено: ${refused}.`,
    'Из-за таких писем почтовые службы перестают принимать и остальные, поэтому они теперь уходят медленно.',
    ...next,
    'Кто уже зарегистрирован, входит как обычно.',
    '',
    'Кому писали и что ответили: vslukh mail log',
    'Не пускать с одного домена или из одной сети: vslukh ban add',
    '',
    'Пока это продолжается, второго такого письма не будет.',
  ]
  const subject = `Отклонено писем новым адресам: ${refused} из ${ended} · ${appName}`
  return { to, subject, text: lines.join('\n') }
}
