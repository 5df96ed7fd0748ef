import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../server/testing/free-port.ts'
import { openMailbox } from '../../server/testing/mailbox.ts'
import { envOf, runCommand } from '../../server/testing/run-command.ts'
import { startAt } from '../../server/testing/sign-in-calls.ts'
import { openRefusingSmtp, untilAllWait } from '../../server/testing/smtp-faults.ts'
import { appForTest, type TestApp } from '../../server/testing/test-app.ts'
import { type Fault, openFaults } from './broken-mail-servers.ts'
import { EMAIL } from './wall-commands.ts'

/** An SMTP conversation ends within 50 s, and commands are slow beside several walls. */
const LONG_WAIT = { timeout: 120_000 }

const stateOf = async (app: TestApp, id: string) =>
  (await app.call('POST', `/codes/${id}/mail`, { body: { clientToken: 'one browser' } })).body.state

async function readMetrics(port: number): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
}

/** Expects what the operator sees of a wall that cannot send mails. */
async function examine({ app, fault, metricsPort }: BrokenWall) {
  const { name, error, reason, fix } = fault
  const env = { ...envOf(app), SMTP_URL: fault.url }
  const json = async (...args: string[]) =>
    JSON.parse((await runCommand(env, ...args, '--json')).out)
  const [logged] = await json('mail', 'log', EMAIL)
  expect(logged, name).toMatchObject({ outcome: 'retrying', error, masked: 'o***@example.org' })
  expect(logged.tries, name).toBeGreaterThan(0)
  expect(logged.answer, name).toMatch(reason)
  const { mails } = await json('status')
  const failing = { waiting: 1, failing: 1, error, reason: expect.stringMatching(reason) }
  expect(mails, name).toMatchObject({ ...failing, failingSince: expect.any(String) })
  const metrics = await readMetrics(metricsPort)
  expect(metrics, name).toMatch(/^vslukh_mails_failing 1$/m)
  expect(metrics, name).toMatch(/^vslukh_mail_failing_seconds [1-9]/m)
  const { findings } = await json('doctor')
  const findingOf = (wanted: string) =>
    findings.find(({ check }: { check: string }) => check === wanted)
  const finding = findingOf('mails')
  const advice = { level: 'broken', fix: expect.stringMatching(fix) }
  expect(finding, name).toMatchObject({ ...advice, message: expect.stringMatching(reason) })
  expect(findingOf('smtp'), name).toMatchObject(fault.isLoginBroken ? advice : { level: 'ok' })
  expect(JSON.stringify([logged, mails, finding]), name).not.toContain('olga')
}

/** A wall with a broken mail server, on which a user waits for the code of an operation. */
type BrokenWall = { fault: Fault; app: TestApp; id: string; metricsPort: number }

async function startBrokenWall(fault: Fault): Promise<BrokenWall> {
  const metricsPort = await freePort()
  const app = await appForTest({ config: { smtpUrl: fault.url, metricsPort } })
  const { id } = (await startAt(app, '/registrations', { email: EMAIL })).body
  return { fault, app, id, metricsPort }
}

/** Puts a working mail server in the place of the broken one. */
async function recover({ fault, app, id }: BrokenWall): Promise<void> {
  await fault.close()
  const mailbox = await openMailbox(fault.port)
  onTestFinished(() => mailbox.close())
  // This wall insists on TLS, which the mailbox does not offer.
  if (fault.name === 'an expired certificate') return
  expect(await mailbox.codeFor(EMAIL), fault.name).toBe(app.codeFor(id))
  await expect.poll(() => stateOf(app, id), LONG_WAIT).toBe('sent')
  await app.logLine('mail sent')
  expect(mailbox.mails, fault.name).toHaveLength(1)
}

test('the user and every command see each fault of the mail server, and once it works each mail comes once', {
  timeout: 500_000,
}, async () => {
  const faults = await openFaults()
  // Four walls at a time wait for their timeouts; all else runs one after another, for small
  // machines.
  for (let first = 0; first < faults.length; first += 4) {
    const walls: BrokenWall[] = []
    for (const fault of faults.slice(first, first + 4)) walls.push(await startBrokenWall(fault))
    for (const { app, id, fault } of walls) {
      await expect
        .poll(() => stateOf(app, id), { ...LONG_WAIT, message: fault.name })
        .toBe('retrying')
    }
    for (const wall of walls) await examine(wall)
    await Promise.all(walls.map(recover))
  }
})

test('a wrong password is tried once a minute, in real time', { timeout: 300_000 }, async () => {
  const refusing = await openRefusingSmtp({ code: 535, words: '5.7.8 wrong', at: 'login' })
  onTestFinished(() => refusing.close())
  const smtpUrl = `smtp://user:password@127.0.0.1:${refusing.port}`
  const metricsPort = await freePort()
  const app = await appForTest({ config: { smtpUrl, metricsPort } })
  for (let n = 0; n < 12; n++) await startAt(app, '/registrations', { email: `p${n}@example.org` })
  await untilAllWait(app.db)
  const began = performance.now()
  const first = refusing.counts.refusals
  await expect.poll(() => refusing.counts.refusals, { timeout: 200_000 }).toBe(first + 2)
  expect((performance.now() - began) / 1000).toBeGreaterThan(100)
  const env = { ...envOf(app), SMTP_URL: smtpUrl }
  expect((await runCommand(env, 'status')).out).toMatch(
    /ждут: 12, не уходят: 12;.*535 5\.7\.8 wrong/,
  )
  expect(await readMetrics(metricsPort)).toMatch(/^vslukh_mails_failing 12$/m)
  const { out } = await runCommand(env, 'doctor')
  expect(out).toMatch(/^✗ писем в очереди: 12, .*535.*Проверьте в SMTP_URL имя и пароль\.$/m)
  expect(out).toMatch(/^✗ почтовый сервер .*535.*Проверьте в SMTP_URL имя и пароль\.$/m)
})

test('an address that is refused for good is tried once, and no mail waits', async () => {
  const refusing = await openRefusingSmtp({ code: 550, words: '5.1.1 no such user' })
  onTestFinished(() => refusing.close())
  const smtpUrl = `smtp://127.0.0.1:${refusing.port}`
  const metricsPort = await freePort()
  const app = await appForTest({ config: { smtpUrl, metricsPort } })
  const { id } = (await startAt(app, '/registrations', { email: EMAIL })).body
  await expect.poll(() => stateOf(app, id)).toBe('refused')
  const env = { ...envOf(app), SMTP_URL: smtpUrl }
  const { out } = await runCommand(env, 'mail', 'log', EMAIL)
  expect(out).toMatch(/отклонено, больше не отправляется, попыток: 1 — 550 5\.1\.1 no such user/)
  expect((await runCommand(env, 'status')).out).toMatch(/ждут: 0, не уходят: 0; .*отклонено: 1/)
  expect((await runCommand(env, 'doctor')).out).toMatch(/^✓ писем в очереди: 0, не уходят: 0$/m)
  expect(await readMetrics(metricsPort)).toMatch(/^vslukh_mails_total\{outcome="refused"\} 1$/m)
  expect(refusing.counts.refusals).toBe(1)
})
