import { expect, test } from 'vitest'
import { startAt } from '../server/testing/calls/sign-in-calls.ts'
import { mailboxForTest } from '../server/testing/mail/mailbox.ts'
import { freePort } from '../server/testing/process/free-port.ts'
import { envOf, runHere } from '../server/testing/process/run-command.ts'
import { mailAppForTest, testPerNode } from '../server/testing/test-app.ts'

async function run(env: Record<string, string>, ...args: string[]) {
  const { code, out, err } = await runHere(env, ['mail', ...args])
  return { code, out: out + err }
}

const mailTest = (env: Record<string, string>) => run(env, 'test', 'olga@example.org')

test('a test mail arrives, and each step is named', async () => {
  const mailbox = await mailboxForTest()
  const { code, out } = await mailTest({ SMTP_URL: mailbox.url })
  expect(code).toBe(0)
  expect(out).toMatch(/✓ Соединение с 127\.0\.0\.1, порт \d+: есть\n✓ Письмо принято сервером: 250/)
  const { subject, source } = await mailbox.mailTo('olga@example.org')
  expect(subject).toContain('Проверка почты')
  expect(source).toContain('Content-Type: text/html')
})

test('a failed test mail names the cause and the fix: no SMTP_URL, a wrong password, a certificate', async () => {
  const unset = { code: 1, out: expect.stringContaining('SMTP_URL не задан') }
  expect(await mailTest({})).toMatchObject(unset)
  const refusal = { code: 535, words: '5.7.8 Authentication failed', at: 'login' } as const
  const { port } = await mailboxForTest(0, { refusal, disabledCommands: [] })
  const url = `smtp://masha:not-this-one@127.0.0.1:${port}?tls.rejectUnauthorized=false`
  const refused = await mailTest({ SMTP_URL: url })
  expect(refused.code).toBe(1)
  const steps = /✓ Соединение.*\n✓ Шифрование.*\n✗ .*535.*Проверьте в SMTP_URL имя и пароль/s
  expect(refused.out).toMatch(steps)
  expect(refused.out).not.toContain('not-this-one')
  const unchecked = await mailTest({ SMTP_URL: `smtp://127.0.0.1:${port}?requireTLS=true` })
  expect(unchecked.out).toMatch(
    /✗ сертификат (?:подписан|не проверить|выдан|истёк)|✗ срок сертификата/,
  )
  expect(unchecked.out).not.toContain('use-system-ca')
})

testPerNode('responses that each node caches for itself')(
  'while the mail server refuses for now, the log of mails, status, the doctor and the metrics show why',
  async () => {
    const words = '4.3.0 not now for <olga@example.org>'
    const metricsPort = await freePort()
    const refusal = { code: 451, words }
    const { app, mailbox } = await mailAppForTest({ metricsPort }, { refusal })
    await startAt(app, '/registrations', { email: 'olga@example.org' })
    await app.logLine('mail not sent, will retry')
    const json = async (...args: string[]) =>
      JSON.parse((await runHere({ ...envOf(app), SMTP_URL: mailbox.url }, [...args, '--json'])).out)
    const reason = expect.stringMatching(/451 .*<o\*{3}@example\.org>/)
    const [logged] = await json('mail', 'log', 'olga@example.org')
    expect(logged).toMatchObject({ outcome: 'retrying', error: 'EENVELOPE', answer: reason })
    const { mails } = await json('status')
    expect(mails).toMatchObject({ waiting: 1, failing: 1, error: 'EENVELOPE', reason })
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    expect(metrics).toMatch(/^vslukh_mails_failing 1\n[\s\S]*^vslukh_mail_failing_seconds [\d.]+/m)
    const { findings } = await json('doctor')
    expect(findings).toContainEqual({
      check: 'mails',
      level: 'broken',
      message: reason,
      fix: expect.stringContaining('причина в его ответе'),
    })
    expect(findings).toContainEqual(expect.objectContaining({ check: 'smtp', level: 'ok' }))
  },
)

test('mail log lists all mails or those to one address, always masked', async () => {
  const words = '5.1.1 <olga@example.org> unknown'
  const { app } = await mailAppForTest({}, { refusal: { code: 550, words } })
  for (const email of ['olga@example.org', 'vera@example.net']) {
    await startAt(app, '/registrations', { email })
  }
  await app.logLine('mail refused', 2)
  const env = envOf(app)
  const [all, nobodys, json, wrong] = await Promise.all([
    run(env, 'log'),
    run(env, 'log', 'petr@example.org'),
    run(env, 'log', 'OLGA@example.org', '--json'),
    run(env, 'log', 'olga'),
  ])
  expect(all.out).toContain('v***@example.net')
  const line =
    'o***@example.org  код  отклонено, больше не отправляется, попыток: 1 — 550 5.1.1 <o***'
  expect(all.out).toContain(line)
  expect(all.out + json.out).not.toMatch(/olga/i)
  expect(nobodys.out).toContain('таких писем нет')
  expect(JSON.parse(json.out)).toMatchObject([
    { task: 'send-code', masked: 'o***@example.org', outcome: 'refused', reply: 550, tries: 1 },
  ])
  expect(wrong).toMatchObject({ code: 2, out: expect.stringContaining('не адрес почты') })
})
