import { expect, test } from 'vitest'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { freePort } from '../../testing/free-port.ts'
import { mailboxForTest } from '../../testing/mailbox.ts'
import { openHangingSmtp } from '../../testing/smtp-faults.ts'
import { verifySmtp } from './relay.ts'
import { smtpAdvice } from './smtp-advice.ts'

test('a server that answers is well; one that never ends its reply, refuses the login or is away is not', async () => {
  await verifySmtp({ url: (await mailboxForTest()).url })
  const hanging = closeAfterTest(await openHangingSmtp('hello', { drips: true }))
  const late = verifySmtp({ url: hanging.url }, { conversationMs: 1000 })
  await expect(late).rejects.toMatchObject({ code: 'EABORT' })
  await expect.poll(() => hanging.counts.open).toBe(0)
  const { url } = await mailboxForTest(0, { refusal: { code: 535, at: 'login' } })
  const login = verifySmtp({ url: url.replace('//', '//user:password@') })
  await expect(login).rejects.toMatchObject({ code: 'EAUTH' })
  const away = verifySmtp({ url: `smtp://127.0.0.1:${await freePort()}` })
  await expect(away).rejects.toThrow('ECONNREFUSED')
})

test.each([
  ['ESOCKET', 'certificate has expired', /сертификат/],
  ['ESOCKET', 'self-signed certificate in certificate chain', /\?tls\.rejectUnauthorized=false/],
  ['ESOCKET', "Hostname/IP does not match certificate's altnames", /сертификат/],
  ['ESOCKET', 'unable to get local issuer certificate', /NODE_EXTRA_CA_CERTS/],
  ['ETLS', 'Error upgrading connection with STARTTLS', /TLS.*\?requireTLS=false/],
  ['ESOCKET', '0A00010B:SSL routines:ssl3_get_record:wrong version number', /smtps:\/\/ или порт/],
  ['ESOCKET', 'connect ECONNREFUSED 127.0.0.1:25', /имя и порт/],
  ['EPROTOCOL', 'Invalid greeting. response=421 4.3.0 not now', /подождите/],
  ['EABORT', 'The conversation took longer than 45 s', /слишком медленно/],
  ['EENVELOPE', '451 4.7.1 Greylisting in action', /причина в его ответе/],
  ['EENVELOPE', '530 5.7.0 Authentication required', /имени и паролю/],
  ['EENVELOPE', '530 5.7.0 Must issue a STARTTLS command first', /причина в его ответе/],
  ['ETLS', 'Error upgrading connection with STARTTLS: 454 4.7.0 not now', /подождите/],
  ['ESMTPUTF8', 'The server does not offer SMTPUTF8', /латинские буквы/],
])('the advice for %s, %s', (code, message, advice) => {
  expect(smtpAdvice({ code, message })).toMatch(advice)
})
