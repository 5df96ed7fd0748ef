import { execFile } from 'node:child_process'
import { appendFile, chmod, cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { expect } from 'vitest'
import { databaseForTest } from '../../server/testing/database-for-test.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { SECRET } from '../../server/testing/test-app.ts'
import { run, asRoot as test } from './deploy-file.ts'
import { copyTree, edit } from './releases.ts'

const OLD = '90.0.0'
const NEW = '99.0.0'

type Faulty = { what: string; file: string; edits: [string, string][]; reason: string }

/** Takes the place of systemctl without systemd: runs the server of /opt/vslukh/current. */
const SYSTEMCTL = `#!/bin/sh
server=/run/server
end() {
  [ -e $server ] || return 0
  kill "$(cat $server)"
  tail --pid="$(cat $server)" -f /dev/null
  rm $server
}
serve() {
  cd /opt/vslukh/current || exit
  bin/run-node --env-file=/etc/vslukh.env scripts/start.ts &
  echo $! >$server
  wait $!
  echo $? >/run/ended
}
begin() {
  rm -f /run/ended
  serve >>/run/journal 2>&1 &
}
case $1 in
  is-active) test -e $server && echo active ;;
  show) [ "$3" = NRestarts ] && echo 0 || cat /run/ended 2>/dev/null || echo 0 ;;
  stop) end ;;
  start) begin ;;
  restart) end && begin ;;
esac
`

const JOURNALCTL = `#!/bin/sh
case "$*" in *'-n 1 '*) lines=1 ;; *) lines=20 ;; esac
tail -n $lines /run/journal
`

test.for([
  {
    what: 'is alive and never gets ready',
    file: 'server/kernel/http/health.ts',
    // As if another node had a later version than both.
    edits: [['  onBroken\\(broken\\)', "  broken.push('900-later')\n$&"]],
    reason: 'База новее этого сервера: в ней есть 900-later',
  },
  {
    what: 'refuses a setting',
    file: 'server/kernel/config/config.ts',
    edits: [['  requireOneWayOfMail\\(', "  throw new ConfigError('PORT: больше не задают')\n$&"]],
    reason: 'PORT: больше не задают',
  },
] satisfies Faulty[])(
  'a version that $what is rolled back at once, with its reason',
  async ({ file, edits, reason }) => {
    const folder = await folderForTest()
    await run('chmod', ['755', folder])
    for (const name of ['bin', 'etc', 'opt/vslukh', 'backups']) {
      await mkdir(join(folder, name), { recursive: true })
    }
    await cp('/etc', join(folder, 'etc'), { recursive: true, verbatimSymlinks: true })
    await appendFile(join(folder, 'etc/passwd'), 'vslukh:x:0:0::/root:/bin/sh\n')
    const settings = {
      DATABASE_URL: await databaseForTest(),
      APP_SECRET: SECRET,
      PORT: String(await freePort()),
      DATA_DIR: join(folder, 'data'),
      BACKUP_DIR: join(folder, 'backups'),
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
    await writeFile(join(folder, 'etc/vslukh.env'), lines.join(''))
    await writeFile(join(folder, 'bin/systemctl'), SYSTEMCTL)
    await writeFile(join(folder, 'bin/journalctl'), JOURNALCTL)
    for (const name of ['systemctl', 'journalctl']) await chmod(join(folder, 'bin', name), 0o755)

    await copyTree(join(folder, 'opt/vslukh', OLD), OLD)
    await symlink(OLD, join(folder, 'opt/vslukh/current'))
    await copyTree(join(folder, 'next'), NEW)
    await edit(join(folder, 'next', file), edits)

    const script = `
    mount --bind ${folder}/etc /etc; mount --bind ${folder}/opt /opt; mount -t tmpfs run /run; mount -t tmpfs cache /var/cache
    mount -t proc proc /proc; exec 2>&1
    systemctl start
    until curl -fs -o /run/answer http://127.0.0.1:${settings.PORT}/readyz; do sleep 0.2; done
    since=$(date +%s)
    /opt/vslukh/current/bin/switch-release ${folder}/next; echo "code $?"
    echo "after $(($(date +%s) - since)) s"
    ls /opt/vslukh; readlink /opt/vslukh/current`
    const env = { PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter) }
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child']
    const out = await new Promise<string>((resolve) => {
      execFile('unshare', [...namespaces, '/bin/sh', '-c', script], { env }, (_, text) =>
        resolve(text),
      )
    })
    expect(out).toContain(`Версия ${NEW} не заработала (${reason})`)
    expect(out).toContain(`Снова работает версия ${OLD}.\ncode 1\n`)
    expect(Number(/after (\d+) s/.exec(out)?.[1])).toBeLessThan(60)
    expect(out).toMatch(new RegExp(`s\\n${OLD}\ncurrent\n${OLD}\n$`))
  },
)
