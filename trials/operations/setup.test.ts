import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect } from 'vitest'
import { dkimPublicKey } from '../../server/kernel/mail/dkim.ts'
import { openDns } from '../../server/testing/mail/dns-server.ts'
import { mailboxForTest } from '../../server/testing/mail/mailbox.ts'
import { asRoot as test } from '../../server/testing/process/folder-for-test.ts'
import { type Dialog, programOf, talk } from './deploy-file.ts'
import { DNS, openMachine, SETUP } from './machine-without-systemd.ts'

const OPERATOR = ['--name', 'ООО «Ромашка»', '--contact', 'olga@example.org']

/** Answers for the domain of the wall, and for nothing else. */
const openWallsDns = (...records: string[]) =>
  openDns(`--listen-address=${DNS}`, '--local=/example/', ...records)

const needCaddy = () => programOf('caddy', '/usr/bin/caddy')

const levels = (out: string) => {
  const { findings } = JSON.parse(out) as { findings: { check: string; level: string }[] }
  return Object.fromEntries(findings.map(({ check, level }) => [check, level]))
}

async function openMachineWithCaddy() {
  await needCaddy()
  await openWallsDns()
  return openMachine()
}

test('setup writes the settings, a key for mails and the proxy’s file, sends a mail signed by the key whose record it prints, and a second run changes nothing', async () => {
  const machine = await openMachineWithCaddy()
  const given = ['https://Wall.example/', ...machine.smtp, ...OPERATOR]
  const first = await machine.call(SETUP, ...given, '--json')
  expect(first.code).toBe(1)
  // All steps run even if one fails: nothing starts here without systemd.
  expect(levels(first.out)).toMatchObject({
    settings: 'ok',
    dkim: 'ok',
    server: 'broken',
    proxy: 'broken',
    'mail domain': 'warning',
    smtp: 'warning',
  })
  expect(first.err).toContain('✗ systemd здесь нет. Запустите сервер сами')
  expect(first.err).toContain('никто не подтвердил')

  expect(parseEnv(await machine.read('etc/vslukh.env'))).toEqual({
    PUBLIC_URL: 'https://wall.example',
    TRUST_PROXY: '127.0.0.1',
    SMTP_URL: machine.mailbox.url,
    MAIL_FROM: 'no-reply@wall.example',
    OPERATOR_NAME: 'ООО «Ромашка»',
    CONTACT_EMAIL: 'olga@example.org',
    MODERATOR_EMAIL: 'olga@example.org',
    BACKUP_DIR: '/var/backups/vslukh',
    DKIM_KEY_FILE: '/etc/vslukh/dkim.pem',
    DKIM_SELECTOR: 'wall',
  })
  for (const path of ['etc/vslukh.env', 'etc/vslukh/dkim.pem']) {
    const { mode, uid, gid } = await stat(join(machine.folder, path))
    expect([mode & 0o777, uid, gid], path).toEqual([0o640, 0, 4321])
  }
  const caddyfile = await machine.read('etc/caddy/Caddyfile')
  expect(caddyfile).toMatch(/^\{\n[\s\S]*?admin unix[\s\S]*?\n\}\n\nwall\.example \{/)
  expect(caddyfile).not.toContain('/usr/share/caddy')

  const key = dkimPublicKey(await machine.read('etc/vslukh/dkim.pem'))
  const { records } = JSON.parse(first.out) as { records: string[] }
  const record = records.find((line) =>
    line.startsWith('wall._domainkey.wall.example. 3600 IN TXT'),
  )
  const parts = [...(record ?? '').matchAll(/"([^"]*)"/g)].map(([, part = '']) => part)
  expect(parts.join('')).toBe(`v=DKIM1; k=rsa; p=${key}`)
  expect(Math.max(...parts.map(({ length }) => length))).toBe(255)
  expect(records).toContain('wall.example. 3600 IN TXT "v=spf1 a mx ~all"')
  expect(records).toContain(
    '_dmarc.wall.example. 3600 IN TXT "v=DMARC1; p=none; rua=mailto:olga@example.org"',
  )
  const { subject, source } = await machine.mailbox.mailTo('olga@example.org')
  expect(subject).toContain('Проверка почты')
  expect(source).toMatch(/^DKIM-Signature: [^:]*d=wall\.example;\s[^:]*s=wall;/m)

  const files = ['etc/vslukh.env', 'etc/caddy/Caddyfile', 'etc/vslukh/dkim.pem']
  const states = () =>
    Promise.all(files.map(async (path) => (await stat(join(machine.folder, path))).ino))
  const before = await states()
  const again = await machine.call(SETUP, '--json')
  expect(levels(again.out)).toEqual(levels(first.out))
  expect(await states()).toEqual(before)
})

test('setup keeps settings it does not know and other sites of the proxy, and leaves a file that Caddy refuses as it was', async () => {
  const machine = await openMachineWithCaddy()
  const settings = join(machine.folder, 'etc/vslukh.env')
  const caddyfile = join(machine.folder, 'etc/caddy/Caddyfile')
  await writeFile(settings, `# Мои\nRATE_LIMIT_SCALE=2\nOWN='да'\nPUBLIC_URL=https://old.example\n`)
  await writeFile(caddyfile, 'blog.old.example {\n\trespond "blog"\n}\n')
  const setup = (host: string) => machine.call(SETUP, host, ...machine.smtp, ...OPERATOR)
  for (const host of ['old.example', 'wall.example']) {
    await setup(host)
    expect(await readFile(caddyfile, 'utf8')).toMatch(
      new RegExp(`^\\{\n[\\s\\S]*?\n\\}\n\nblog\\.old\\.example \\{[^}]*\\}\n\n${host} \\{`),
    )
  }
  const text = await readFile(settings, 'utf8')
  expect(text).toMatch(/^# Мои\nRATE_LIMIT_SCALE=2\nOWN='да'\nPUBLIC_URL=https:\/\/wall\.example\n/)

  await writeFile(caddyfile, 'blog.example {\n\tno_such_word\n}\n')
  const refused = await setup('wall.example')
  expect(refused.err).toMatch(/✗ Caddy: не принимает настройки: .*no_such_word/)
  expect(await readFile(caddyfile, 'utf8')).toBe('blog.example {\n\tno_such_word\n}\n')
  const planned = await machine.call(SETUP, 'new.example', '--dry-run')
  expect(planned).toMatchObject({
    code: 0,
    out: expect.stringContaining('MAIL_FROM, PUBLIC_URL'),
  })
  expect(await readFile(settings, 'utf8')).toBe(text)
})

test('a wall that moves keeps each former name, from which Caddy leads to the new one; moving back ends it', async () => {
  const machine = await openMachineWithCaddy()
  const own = '# Мой блог\nblog.old.example {\n\trespond "blog"\n}\n'
  await writeFile(join(machine.folder, 'etc/caddy/Caddyfile'), own)
  const setup = async (host: string) => {
    const { out, err } = await machine.call(SETUP, host, ...machine.smtp, ...OPERATOR)
    // Caddy has accepted the file, and only systemd is missing.
    expect(err).toContain('✗ Caddy: /etc/caddy/Caddyfile готов, но systemd здесь нет')
    const caddyfile = await machine.read('etc/caddy/Caddyfile')
    const blocks = [...caddyfile.matchAll(/^(\S+) \{$/gm)].map(([, name]) => name)
    const targets = [...caddyfile.matchAll(/redir (\S+)\{uri\} permanent/g)].map(([, to]) => to)
    const set = parseEnv(await machine.read('etc/vslukh.env'))
    return { printed: out + err, blocks, targets, former: set.FORMER_URLS, caddyfile }
  }
  await setup('old.example')
  const moved = await setup('new.example')
  expect(moved.printed).toContain('Сайт переходит с old.example на new.example. Прежнее имя')
  expect(moved).toMatchObject({
    blocks: ['blog.old.example', 'new.example', 'old.example'],
    targets: ['https://new.example'],
    former: 'https://old.example',
  })
  expect(await setup('new.example')).toMatchObject({ caddyfile: moved.caddyfile })
  expect(await setup('third.example')).toMatchObject({
    blocks: ['blog.old.example', 'third.example', 'old.example', 'new.example'],
    targets: ['https://third.example', 'https://third.example'],
    former: 'https://old.example,https://new.example',
  })
  expect(await setup('old.example')).toMatchObject({
    blocks: ['blog.old.example', 'old.example', 'new.example', 'third.example'],
    targets: ['https://old.example', 'https://old.example'],
    former: 'https://new.example,https://third.example',
  })
})

test('a wrong answer is refused with a sentence, and so is a machine that lacks something', async () => {
  const machine = await openMachine()
  await writeFile(join(machine.folder, 'etc/smtp-url'), 'smtps://u:p#q@mail.example\n')
  const refusals: [string, ...string[]][] = [
    ['не имя сайта', 'bad_host', ...machine.smtp, ...OPERATOR],
    ['не имя сайта', '203.0.113.7', ...machine.smtp, ...OPERATOR],
    ['почтовый сервер — имя', 'wall.example', '--smtp-url', 'https://mail.example', ...OPERATOR],
    ['видят все', 'wall.example', '--smtp-url', 'smtps://u:p%23q@mail.example', ...OPERATOR],
    ['пишут через %', 'wall.example', '--smtp-url-file', '/etc/smtp-url', ...OPERATOR],
    ['не адрес почты', 'wall.example', ...machine.smtp, '--name', 'Я', '--contact', 'olga'],
    ['--proxy', 'wall.example', '--proxy', 'apache'],
    ['не хватает: --smtp-url-file, --name, --contact', 'wall.example'],
  ]
  for (const [sentence, ...args] of refusals) {
    const refused = { code: 2, out: '', err: expect.stringContaining(sentence) }
    expect(await machine.call(SETUP, ...args), args.join(' ')).toEqual(refused)
  }
  await expect(machine.read('etc/vslukh.env')).rejects.toThrow('ENOENT')

  const nobody = await machine.call(`runuser -u nobody -- ${SETUP}`, 'wall.example')
  expect(nobody).toMatchObject({ code: 1, err: expect.stringContaining('Нужен root: sudo') })
  const withoutCaddy = `sh -c 'mount --bind /dev/null /usr/bin/caddy; exec ${SETUP} "$@"' sh`
  const { err } = await machine.call(withoutCaddy, 'wall.example', ...machine.smtp, ...OPERATOR)
  expect(err).toContain('✗ Caddy: не установлен. Установите его, apt install caddy')
  await writeFile(join(machine.folder, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\n')
  const userless = await machine.call(SETUP, 'wall.example')
  expect(userless).toMatchObject({ code: 1, err: expect.stringContaining('установите пакет') })
})

type Machine = Awaited<ReturnType<typeof openMachine>>

/** Runs setup on a terminal and answers its questions. Returns all that it prints. */
function talkToSetup(machine: Machine, dialog: Dialog) {
  return talk(machine.spawn(`script -qec '${SETUP}' /dev/null`), dialog)
}

test('a new mail server that refuses the login does not replace one that accepts it', async () => {
  const machine = await openMachine()
  const refusal = { code: 535, words: '5.7.8 wrong', at: 'login' } as const
  const { port } = await mailboxForTest(0, { refusal })
  const settings = join(machine.folder, 'etc/vslukh.env')
  await writeFile(settings, `SMTP_URL=${machine.mailbox.url}\n`)
  await writeFile(join(machine.folder, 'etc/smtp-url'), `smtp://olga:typo@127.0.0.1:${port}`)
  const given = ['--smtp-url-file', '/etc/smtp-url']
  const { code, err } = await machine.call(SETUP, 'wall.example', ...given, ...OPERATOR)
  expect(code).toBe(1)
  expect(err).toMatch(/имя и пароль не приняты \(535 5\.7\.8.*Ничего не изменено\.\n$/)
  expect(err).not.toContain('typo')
  expect(await readFile(settings, 'utf8')).toBe(`SMTP_URL=${machine.mailbox.url}\n`)
})

/** Listens on two ports, then runs its arguments as a command. */
const HOLDER = `
  for (const port of [443, 3000]) require('node:net').createServer().listen(port)
  console.log('holder', process.pid)
  const [program, ...args] = process.argv.slice(1)
  require('node:child_process').spawn(program, args, { stdio: 'inherit' }).on('exit', process.exit)`

test('a port that another program uses is reported with that program, for the server and for the proxy', async () => {
  const machine = await openMachineWithCaddy()
  const node = '/opt/vslukh/current/bin/run-node'
  const own = `unshare --net sh -c 'ip link set lo up; exec ${node} -e "$0" "$@"'`
  const setup = [...SETUP.split(' '), 'wall.example', ...machine.smtp, ...OPERATOR]
  const { out, err } = await machine.call(own, HOLDER, ...setup)
  const pid = /^holder (\d+)/.exec(out)?.[1]
  expect(err).toMatch(
    new RegExp(`✗ порт 3000 занят программой \\S+ \\(PID ${pid}\\)\\. Остановите`),
  )
  expect(err).toMatch(new RegExp(`✗ Caddy: порт 443 занят программой \\S+ \\(PID ${pid}\\)`))
})

test('on a terminal setup asks for each answer, asks again after a wrong one, shows no password, and believes the operator that the mail arrived', async () => {
  await needCaddy()
  const machine = await openMachine()
  const first = await talkToSetup(machine, [
    [/Имя сайта.*: /, 'wall_example'],
    [/не имя сайта[\s\S]*Имя сайта.*: /, 'wall.example'],
    [/Почтовый сервер.*: /, machine.mailbox.url.replace('smtp://', '')],
    [/Имя для входа.*: /, 'wall'],
    [/Пароль.*: /, 'not-shown'],
    [/без TLS[\s\S]*Enter.*: /, 'дальше'],
    [/С какого адреса.*: /, ''],
    [/Кто отвечает.*: /, ''],
    [/Без этого не обойтись[\s\S]*Кто отвечает.*: /, 'Ольга'],
    [/Ваша почта.*: /, 'olga@example.org'],
  ])
  expect(first).not.toContain('not-shown')
  const set = parseEnv(await machine.read('etc/vslukh.env'))
  expect(set.SMTP_URL).toMatch(/^smtps:\/\/wall:not-shown@127\.0\.0\.1/)

  const key = dkimPublicKey(await machine.read('etc/vslukh/dkim.pem'))
  await openWallsDns(
    `--host-record=wall.example,${DNS}`,
    '--txt-record=wall.example,v=spf1 a -all',
    '--txt-record=_dmarc.wall.example,v=DMARC1; p=none',
    `--txt-record=wall._domainkey.wall.example,v=DKIM1; k=rsa; p=${key.slice(0, 200)},${key.slice(200)}`,
  )
  await writeFile(join(machine.folder, 'etc/vslukh.env'), `SMTP_URL=${machine.mailbox.url}\n`, {
    flag: 'a',
  })
  const second = await talkToSetup(machine, [
    [/Имя сайта.* \[wall\.example\]: /, ''],
    [/Почтовый сервер.*: /, machine.mailbox.url],
    [/Имя для входа.*: /, ''],
    [/С какого адреса.* \[no-reply@wall\.example\]: /, ''],
    [/Кто отвечает.* \[Ольга\]: /, ''],
    [/Ваша почта.* \[olga@example\.org\]: /, ''],
    [/напишите «дошло».*: /, 'что?'],
    [/напишите «дошло».*: /, 'дошло'],
  ])
  expect(second).toContain('✓ в DNS есть адрес сайта, SPF, DKIM и DMARC')
  expect(second).toContain('✓ письмо дошло до olga@example.org')
  expect(second).not.toContain('Записи для DNS')
  const [guide = ''] = /\/\S+\/first-wall\.md/.exec(second) ?? []
  expect(await machine.call(`test -s ${guide}`)).toMatchObject({ code: 0 })
})
