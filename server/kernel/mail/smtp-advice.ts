import { connectionReason } from '../errors/why-failed.ts'

const OWN_NETWORK = 'если сервер в вашей же сети, допишите к SMTP_URL'
/** Errors of TLS by their messages, since nodemailer reports them like any error of a socket. */
const TLS_ERRORS: [RegExp, message: string, fix: string][] = [
  [
    /wrong version number/i,
    'на этом порту сервер отвечает без TLS',
    'Укажите в SMTP_URL smtp:// вместо smtps:// или порт 465',
  ],
  [/expired/i, 'срок сертификата истёк', 'Обновите сертификат почтового сервера'],
  [
    /altname/i,
    'сертификат выдан не на это имя',
    'Укажите в SMTP_URL имя, на которое выдан сертификат почтового сервера',
  ],
  [
    /self-signed/i,
    'сертификат подписан самим сервером, его не проверить',
    `Поставьте почтовому серверу сертификат, который можно проверить, или, ${OWN_NETWORK} ?tls.rejectUnauthorized=false`,
  ],
  [
    /certificate|unable to get .*issuer/i,
    'сертификат не проверить: неизвестно, кем он выдан',
    'Подключите на почтовом сервере сертификат вместе с цепочкой; файл своего корневого сертификата назовите в NODE_EXTRA_CA_CERTS',
  ],
]

type SmtpProblem = { code?: string | null | undefined; message?: string | null | undefined }

/** Matches a server's reply, which is no error of TLS, though its password may have expired. */
const REPLY = /(?:^|: )([45])\d\d\b/

const tlsError = (message: string) =>
  REPLY.test(message) ? undefined : TLS_ERRORS.find(([words]) => words.test(message))

/** Returns in Russian what is wrong with TLS or a certificate, with the original; else undefined. */
function tlsReason(message: string): string | undefined {
  const [, reason] = tlsError(message) ?? []
  const [own] = message.split(/[;\n]/)
  return reason && `${reason} (${own})`
}

export function isTlsProblem({ code, message }: SmtpProblem): boolean {
  return code === 'ETLS' || tlsError(message ?? '') !== undefined
}

/** Returns what an error means, in Russian if it is one of TLS or of the login, and what helps. */
export function explainSmtp({ code, message }: SmtpProblem): { message: string; fix: string } {
  const text = message ?? ''
  const [own = ''] = text.split(/[;\n]/)
  const reason = tlsReason(text)
  const [, , fix] = tlsError(text) ?? []
  if (reason && fix) return { message: reason, fix }
  const isTemporary = REPLY.exec(text)?.[1] === '4'
  const [, answer] = /^Invalid login: (.*)/.exec(own) ?? []
  const login = isTemporary ? 'вход пока не удался' : 'имя и пароль не приняты'
  const lost = REPLY.test(text) ? undefined : connectionReason(text)
  return {
    message: answer ? `${login} (${answer})` : (lost ?? text),
    fix: adviceFor(text, code, isTemporary),
  }
}

function adviceFor(answer: string, code: SmtpProblem['code'], isTemporary: boolean): string {
  if (/\b530\b(?!.*STARTTLS)/i.test(answer)) {
    return 'Сервер впускает только по имени и паролю: допишите их к SMTP_URL'
  }
  if (code === 'ETLS' && /\b454\b/.test(answer)) {
    return 'Сервер предлагает TLS, но включить его не может: подождите или спросите его владельца'
  }
  // nodemailer's message if the server was reached and then fell silent.
  switch (answer === 'Timeout' ? 'EABORT' : code) {
    case 'ETLS':
      return `Сервер не предлагает TLS: укажите порт, где оно есть (smtps://…:465 или smtp://…:587), или, ${OWN_NETWORK} ?requireTLS=false`
    case 'EAUTH':
      return isTemporary
        ? 'Сервер сейчас никого не впускает: подождите'
        : 'Проверьте в SMTP_URL имя и пароль'
    case 'EDNS':
      return answer.includes('ENOTFOUND')
        ? 'Проверьте имя сервера в SMTP_URL'
        : 'Имена сейчас не находятся: подождите или проверьте DNS этой машины'
    case 'EENVELOPE':
    case 'EMESSAGE':
      return isTemporary
        ? 'Сервер пока отказывает, причина в его ответе: подождите, коды отправляются снова сами'
        : 'Сервер отказывает: причина в его ответе'
    case 'ESMTPUTF8':
      return 'Сервер не принимает адресов, где перед «@» не только латинские буквы: укажите другой'
    case 'ECONNECTION':
    case 'EPROTOCOL':
      return 'Сервер сейчас не принимает писем или отказывает этой машине: подождите или спросите его владельца'
    case 'EABORT':
      return 'Сервер отвечает слишком медленно: подождите или спросите его владельца'
    default:
      return 'Проверьте в SMTP_URL имя и порт, и не закрыт ли порт у хостера'
  }
}
