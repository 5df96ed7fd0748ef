import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Post } from '../../contract/posts.ts'
import { makeRelease } from '../../scripts/release/release.ts'
import { createClient } from '../../server/testing/http/client.ts'
import { mailboxForTest } from '../../server/testing/mail/mailbox.ts'
import { asRoot, folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { bootDebian } from './debian-machine.ts'

const APT = 'DEBIAN_FRONTEND=noninteractive apt-get -y -qq'
const INSTALL = `${APT} --no-install-recommends install`
const EMAIL = 'olga@example.org'
const DATABASE_URL = 'postgresql://vslukh@localhost/vslukh?host=/var/run/postgresql'
const PSQL = 'runuser -u postgres -- psql -XAtq -v ON_ERROR_STOP=1'
/** Makes databases by hand, in the locale of the machine: that of setup sorts by C. */
const MAKE_DATABASES = `${PSQL} -c 'CREATE ROLE vslukh LOGIN' &&
  for name in vslukh other; do
    ${PSQL} -c "CREATE DATABASE $name OWNER vslukh TEMPLATE template0 LOCALE 'ru_RU.UTF-8'" || exit
  done`
/** Prints whether the indexes of the other database were built in today's order of letters. */
const IS_OTHER_CURRENT = `${PSQL} -c "SELECT datcollversion = pg_database_collation_actual_version(oid)
  FROM pg_database WHERE datname = 'other'"`

type Finding = { check: string; level: string; message: string; fix?: string }

asRoot(
  'a wall goes from Debian 12 with PostgreSQL 15 to Debian 13 with 17 as docs/upgrading.md describes: its posts stay, the doctor names the changed order of letters until its commands have run',
  { timeout: 2_400_000 },
  async () => {
    const deb = await makeRelease(await folderForTest(), { isDeb: true })
    const mailbox = await mailboxForTest()
    const { root, shell, done, reboot } = await bootDebian()
    await cp(deb, join(root, 'srv/wall.deb'))
    await writeFile(join(root, 'etc/locale.gen'), 'ru_RU.UTF-8 UTF-8\n')
    await done(`apt-get -qq update && ${INSTALL} locales`)
    await done(`LANG=ru_RU.UTF-8 ${INSTALL} /srv/wall.deb`)
    await done(MAKE_DATABASES)
    const port = await freePort()
    const settings = [
      `PORT=${port}`,
      `DATABASE_URL=${DATABASE_URL}`,
      `APP_SECRET=${'s'.repeat(32)}`,
      `SMTP_URL=${mailbox.url}`,
      'BACKUP_DIR=/var/backups/vslukh',
      'ACCESS_TOKEN_SECONDS=86400',
    ]
    await writeFile(join(root, 'etc/vslukh.env'), `${settings.join('\n')}\n`)
    await done('systemctl start vslukh')

    const url = `http://127.0.0.1:${port}`
    const isReady = () =>
      fetch(`${url}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      )
    const untilReady = async () => {
      const ready = expect.poll(isReady, { timeout: 60_000 }).toBe(true)
      await ready.catch(async (cause) => {
        const { out } = await shell('journalctl -u vslukh -n 20 -o cat')
        throw new Error(out, { cause })
      })
    }
    await untilReady()
    const wall = createClient(url, { check() {}, codeFor: () => mailbox.codeFor(EMAIL) })
    const olga = await wall.signIn(EMAIL)
    const texts = ['Ёлка стоит до весны.', 'Елка стоит до лета.', 'Яблоки в мае.']
    const posts: Post[] = []
    for (const text of texts) posts.push(await wall.publish(olga, text))
    const expectWall = async (postgres: string) => {
      await untilReady()
      for (const { id, text } of posts) {
        expect(await wall.read(`/posts/${id}`)).toMatchObject({ text })
      }
      const found = await wall.read(`/posts/search?q=${encodeURIComponent('ЯБЛОКО')}`)
      expect(found.posts).toMatchObject([{ text: 'Яблоки в мае.' }])
      posts.push(await wall.publish(olga, `Запись в PostgreSQL ${postgres}.`))
      expect(await done('vslukh recount')).toBe('Все счётчики верны.\n')
      const versions = await findingOf('versions')
      expect(versions?.message).toContain(`PostgreSQL ${postgres}.`)
    }
    const findingOf = async (check: string): Promise<Finding | undefined> => {
      const { findings } = JSON.parse((await shell('vslukh doctor --json 2>/dev/null')).out)
      return findings.find((finding: Finding) => finding.check === check)
    }
    await expectWall('15')
    expect(await findingOf('collation')).toMatchObject({ level: 'ok' })
    await done('vslukh backup /var/backups/vslukh/first.backup')

    const sources = join(root, 'etc/apt/sources.list')
    const bookworm = await readFile(sources, 'utf8')
    await writeFile(sources, bookworm.replaceAll('bookworm', 'trixie'))
    await done(`apt-get -qq update && ${APT} -o Dpkg::Options::=--force-confold full-upgrade`)
    await reboot()
    // The upgrade of Debian makes no cluster of the newer PostgreSQL.
    expect(await done('pg_lsclusters -h | cut -d" " -f1')).toBe('15\n')
    await expectWall('15')

    const { fix = '' } = (await findingOf('collation')) ?? {}
    const [, commands = ''] = /vslukh psql: (.*)$/.exec(fix) ?? []
    expect(commands).toContain('REINDEX DATABASE vslukh;')
    await done('systemctl stop vslukh')
    const psql = `script -qec 'vslukh psql' /dev/null`
    await done(`printf '%s\\n' '${commands}' '\\q' | ${psql}`)
    await done('systemctl start vslukh')
    await expectWall('15')
    expect(await findingOf('collation')).toMatchObject({ level: 'ok' })

    // The move builds all indexes anew, also those of a database whose commands have not run.
    expect(await done(IS_OTHER_CURRENT)).toBe('f\n')
    await done('pg_upgradecluster 15 main')
    await expectWall('17')
    expect(await done(IS_OTHER_CURRENT)).toBe('t\n')
    expect(await findingOf('collation')).toMatchObject({ level: 'ok' })
    expect(await done('vslukh verify /var/backups/vslukh/first.backup')).toMatch(/^Копия верна/)
    await done('pg_dropcluster 15 main')
    await expectWall('17')
  },
)
