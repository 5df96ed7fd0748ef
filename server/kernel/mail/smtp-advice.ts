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

const tlsError = ({ message }: SmtpProblem) =>
  TLS_ERRORS.find(([words]) => words.test(message ?? ''))

export function isTlsProblem(problem: SmtpProblem): boolean {
  return problem.code === 'ETLS' || tlsError(problem) !== undefined
}

/** Matches an answer by which the server refuses only for now. */
const TEMPORARY = /(?:^|: )4\d\d\b/

/** Returns the reason in Russian for an error of TLS or of the login, otherwise the message. */
export function smtpReason(problem: SmtpProblem): string {
  const [own = ''] = (problem.message ?? '').split(/[;\n]/)
  const found = tlsError(problem)
  const [, answer] = /^Invalid login: (.*)/.exec(own) ?? []
  if (answer) {
    return `${TEMPORARY.test(own) ? 'вход пока не удался' : 'имя и пароль не приняты'} (${answer})`
  }
  return found ? `${found[1]} (${own})` : (problem.message ?? '')
}

type SmtpProblem = { code?: string | null | undefined; message?: string | null | undefined }

export function smtpAdvice({ code, message }: SmtpProblem): string {
  const known = tlsError({ message })
  if (known) return known[2]
  const answer = message ?? ''
  const isTemporary = TEMPORARY.test(answer)
  if (/\b530\b(?!.*STARTTLS)/i.test(answer)) {
    return 'Сервер впускает только по имени и паролю: допишите их к SMTP_URL'
  }
  if (code === 'ETLS' && /\b454\b/.test(answer)) {
    return 'Сервер предлагает TLS, но включить его не может: подождите или спросите его владельца'
  }
  switch (code) {
    case 'ETLS':
      return `Сервер не предлагает TLS: укажите порт, где оно есть (smtps://…:465 или smtp://…:587), или, ${OWN_NETWORK} ?requireTLS=false`
    case 'EAUTH':
      return isTemporary
        ? 'Сервер сейчас никого не впускает: подождите'
        : 'Проверьте в SMTP_URL имя и пароль'
    case 'EDNS':
      return 'Проверьте имя сервера в SMTP_URL'
    case 'EENVELOPE':
    case 'EMESSAGE':
      return isTemporary
        ? 'Сервер пока отказывает, причина в его ответе: подождите, коды отправляются снова сами'
        : 'Сервер отказывает: причина в его ответе'
    case 'ESMTPUTF8':
      return 'Сервер не принимает адресов, где перед «@» не только латинские буквы: укажите другой'
    case 'EPROTOCOL':
      return 'Сервер сейчас не принимает писем или отказывает этой машине: подождите или спросите его владельца'
    case 'EABORT':
      return 'Сервер отвечает слишком медленно: подождите или спросите его владельца'
    default:
      return 'Проверьте в SMTP_URL имя и порт, и не закрыт ли порт у хостера'
  }
}
