import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { attempt, programOf, run } from './deploy-file.ts'

const NAMESPACES = ['-m', '-u', '-i', '-p', '-C', '-r', '-w']
const ENV = ['PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'LANG=C.UTF-8', 'USER=root']

/**
 * Boots a bare Debian 12 with systemd, which shares this machine's network, until the end of the
 * test. DEBIAN_ROOT may name one that debootstrap has made; it is copied.
 */
export async function bootDebian() {
  const nspawn = await programOf('systemd-container', '/usr/bin/systemd-nspawn')
  const root = join(await folderForTest(), 'root')
  await makeRoot(root)
  const boot = ['--register=no', '--keep-unit', '--boot']
  const start = () => {
    const machine = spawn(nspawn, ['-q', '-D', root, ...boot], { stdio: 'ignore', detached: true })
    return { machine, ended: once(machine, 'exit') }
  }
  let running = start()
  const stop = async () => {
    // systemd-nspawn asks its systemd to power off.
    running.machine.kill('SIGTERM')
    await running.ended
  }
  onTestFinished(stop)
  /** Runs a line of shell as root. Returns its exit code and all it prints. */
  const shell = async (line: string) => {
    const { pid } = running.machine
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
    const [systemd = ''] = children.split(' ')
    const env = ['/usr/bin/env', '-i', ...ENV, '/bin/bash', '-c', `exec 2>&1; ${line}`]
    return attempt('nsenter', ['-t', systemd, ...NAMESPACES, '--', ...env])
  }
  const isUp = async () => (await shell('systemctl is-active dbus')).code === 0
  const untilUp = () => expect.poll(isUp, { timeout: 60_000 }).toBe(true)
  await untilUp()
  return {
    root,
    shell,
    /** Runs a line of shell that must succeed. Returns all it prints. */
    async done(line: string): Promise<string> {
      const { code, out } = await shell(line)
      expect(code, out).toBe(0)
      return out
    },
    async reboot(): Promise<void> {
      await stop()
      running = start()
      await untilUp()
    },
  }
}

async function makeRoot(root: string): Promise<void> {
  const { DEBIAN_ROOT } = process.env
  if (DEBIAN_ROOT) {
    await run('cp', ['-a', DEBIAN_ROOT, root])
  } else {
    const debootstrap = await programOf('debootstrap', '/usr/sbin/debootstrap')
    const packages = ['--variant=minbase', '--include=systemd-sysv,dbus']
    await run(debootstrap, [...packages, 'bookworm', root], { maxBuffer: 64 * 1024 * 1024 })
  }
  await copyFile('/etc/resolv.conf', join(root, 'etc/resolv.conf'))
  await writeFile(join(root, 'etc/hosts'), '127.0.0.1 localhost\n')
}
