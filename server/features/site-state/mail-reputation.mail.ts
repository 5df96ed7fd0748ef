import { writeMail } from '../../kernel/mail/mail-body.ts'
import type { MailOptions } from '../../kernel/mail/mail-words.ts'
import type { QueuedMail } from '../../kernel/mail/queue-mail.ts'
import type { MailRefusals } from './mail-reputation.repository.ts'

export const mailReputationMails = (options: MailOptions) => ({
  'send-refusals-mail': {
    // The counts are those of the time when it was queued.
    write({ to, refused, networks }: QueuedMail & MailRefusals) {
      const lines = [
        `На сайте ${options.origin} из многих сетей просят коды на адреса, которых нет. За час отклонено писем: ${refused}, сетей: ${networks}.`,
        'Из-за таких писем почтовые службы перестают принимать и остальные, поэтому письма новым адресам уходят по одному в 10 секунд, пока отказов так много.',
        'Кто уже зарегистрирован, входит как обычно. Сеть, из-за которой отклонили пять писем за час, ждёт.',
        '',
        'Кому писали и что ответили: vslukh mail log',
        'Не пускать с одного домена или из одной сети: vslukh ban add',
        'Закрыть регистрацию: vslukh close registrations --reason …',
        '',
        'Пока это продолжается, второго такого письма не будет.',
      ]
      return writeMail({ to, subject: `Отклонено писем за час: ${refused}` }, lines, options)
    },
  },
})
