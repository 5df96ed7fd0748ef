/** What an operator can do about an error of an SMTP conversation, by nodemailer's name of it, as a sentence without a full stop. */
export function smtpAdvice(code: string | undefined): string {
  switch (code) {
    case 'EAUTH':
      return 'Проверьте в SMTP_URL имя и пароль'
    case 'ETLS':
      return 'Проверьте, предлагает ли сервер TLS и какой у него сертификат: README.md, SMTP_URL'
    case 'EDNS':
      return 'Проверьте имя сервера в SMTP_URL'
    case 'EENVELOPE':
      return 'Сервер не принимает отправителя или получателя: проверьте MAIL_FROM и адрес'
    default:
      return 'Проверьте в SMTP_URL имя и порт, и не закрыт ли порт у хостера'
  }
}
