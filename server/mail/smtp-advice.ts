/** What OpenSSL and Node say of a certificate; nodemailer names such an error like any other of a socket. */
const CERTIFICATE = /certificate|self-signed|altname|unable to get .*issuer/i

/** An error of an SMTP conversation: nodemailer's name of it, and its message or the server's answer. */
type SmtpProblem = { code?: string | null | undefined; message?: string | null | undefined }

/** Returns what an operator can do about an error of an SMTP conversation, as a sentence without a full stop. */
export function smtpAdvice({ code, message }: SmtpProblem): string {
  if (code === 'ETLS' || CERTIFICATE.test(message ?? '')) {
    return 'Проверьте, предлагает ли сервер TLS и какой у него сертификат: README.md, SMTP_URL'
  }
  switch (code) {
    case 'EAUTH':
      return 'Проверьте в SMTP_URL имя и пароль'
    case 'EDNS':
      return 'Проверьте имя сервера в SMTP_URL'
    case 'EENVELOPE':
      return 'Сервер не принимает отправителя или получателя: проверьте MAIL_FROM и адрес'
    case 'EMESSAGE':
      return 'Сервер не принимает само письмо: причина в его ответе'
    case 'EPROTOCOL':
      return 'Сервер сейчас не принимает писем или отказывает этой машине: подождите или спросите его владельца'
    case 'EABORT':
      return 'Сервер отвечает слишком медленно: подождите или спросите его владельца'
    default:
      return 'Проверьте в SMTP_URL имя и порт, и не закрыт ли порт у хостера'
  }
}
