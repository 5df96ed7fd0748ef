import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { untilReady } from '../../server/testing/process/child-process.ts'
import { folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { programOf, ROOT, run } from '../operations/deploy-file.ts'
import type { Image } from './images.ts'

/** The parts of a service of compose.yaml that containers of the trial have. */
type Service = {
  environment: Record<string, string>
  ports: string[]
  volumes: string[]
  tmpfs: string[]
  read_only: boolean
  cap_drop: string[]
  shm_size: string
  stop_grace_period: string
}

/** Returns the service `app` as Docker Compose reads it from compose.yaml and a file .env. */
export async function readApp(settings: Record<string, string>): Promise<Service> {
  const compose = await programOf('docker-compose', '/usr/bin/docker-compose')
  const yq = await programOf('yq', '/usr/bin/yq')
  const folder = await folderForTest()
  // Debian 12's Docker Compose does not know `name` yet.
  const file = (await readFile(join(ROOT, 'compose.yaml'), 'utf8')).replace(/^name: .*\n/m, '')
  await writeFile(join(folder, 'compose.yaml'), file)
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(join(folder, '.env'), lines.join(''))
  // Variables of this process would come before those of .env.
  const env = { PATH: process.env.PATH ?? '' }
  const { stdout } = await run(compose, ['config'], { cwd: folder, env })
  await writeFile(join(folder, 'config.yaml'), stdout)
  const read = await run(yq, ['.services.app', join(folder, 'config.yaml')])
  return JSON.parse(read.stdout)
}

/** An id that is in no /etc/passwd, with Docker's group for such. */
const USER = { uid: 12_345, gid: 0 }

/**
 * Runs containers of a service with these volumes, as Docker Compose does, but in the machine's
 * network. The variables come after those of the service.
 */
export async function openService(service: Service, changes: Record<string, string>) {
  const bubblewrap = await programOf('bubblewrap', '/usr/bin/bwrap')
  const folder = await folderForTest()
  const volumes = service.volumes.map((line) => line.split(':'))
  const mounts = volumes.flatMap(([name = '', path = '']) => ['--bind', join(folder, name), path])

  /** A new volume of Docker's has what the image has at its place, with the same owner. */
  async function fillVolumes({ root }: Image): Promise<void> {
    for (const [name = '', path = ''] of volumes) {
      const made = await mkdir(join(folder, name), { recursive: true })
      if (made) await run('cp', ['-aT', join(root, path), join(folder, name)])
    }
  }

  /** The arguments of bubblewrap for a command in a new container. */
  function argumentsFor({ root, config }: Image, command: string[]): string[] {
    const { uid, gid } = USER
    const own = config.Env.map((pair) => pair.split(/=(.*)/s).slice(0, 2))
    const env = Object.entries({
      ...Object.fromEntries(own),
      ...service.environment,
      ...changes,
    })
    const shared = 1024 * 1024 * Number.parseInt(service.shm_size, 10)
    return [
      ...[
        service.read_only ? '--ro-bind' : '--bind',
        root,
        '/',
        '--proc',
        '/proc',
        '--dev',
        '/dev',
      ],
      ...['--perms', '1777', '--size', String(shared), '--tmpfs', '/dev/shm'],
      ...service.tmpfs.flatMap((path) => ['--perms', '1777', '--tmpfs', path]),
      ...mounts,
      ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--as-pid-1', '--die-with-parent'],
      ...['--chdir', config.WorkingDir, '--clearenv'],
      ...env.flatMap(([name, value]) => ['--setenv', name, String(value)]),
      ...['--info-fd', '3', 'setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'],
      ...(service.cap_drop.includes('ALL') ? ['--bounding-set=-all', '--inh-caps=-all'] : []),
      ...command,
    ]
  }

  async function spawnIn(image: Image, command: string[]) {
    await fillVolumes(image)
    const child = spawn(bubblewrap, argumentsFor(image, command), {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    const info = text(child.stdio[3] as Readable)
    const { 'child-pid': pid }: { 'child-pid': number } = JSON.parse(await info)
    // Bubblewrap ends with its child. The child outlives it, because it has become another user.
    onTestFinished(async () => {
      if (child.exitCode !== null) return
      const ended = once(child, 'exit')
      process.kill(pid, 'SIGKILL')
      await ended
    })
    return { child, pid }
  }

  /** Runs a command, as `docker compose run --rm app` does. */
  async function runIn(image: Image, ...command: string[]) {
    const { child } = await spawnIn(image, command)
    const ended = once(child, 'close')
    const [out, err] = await Promise.all([
      text(child.stdout as Readable),
      text(child.stderr as Readable),
    ])
    const [code] = await ended
    return { code, out, err }
  }

  return {
    folder: (name: string) => join(folder, name),
    run: runIn,

    /** Runs the image's health check. Returns its exit code. */
    async checkHealth(image: Image): Promise<number> {
      const [kind, ...command] = image.config.Healthcheck.Test
      if (kind !== 'CMD') throw new Error(`A health check of the kind ${kind}`)
      return (await runIn(image, ...command)).code
    },

    /** Starts the server and waits until it is ready. `stop` is that of Docker. */
    async start(image: Image) {
      const { child, pid } = await spawnIn(image, image.config.Cmd)
      await untilReady(child)
      return {
        /** Resolves with the exit code. Rejects after the time that Docker waits. */
        async stop(): Promise<number | null> {
          const graceMs = 1000 * Number.parseInt(service.stop_grace_period, 10)
          const ended = once(child, 'exit', { signal: AbortSignal.timeout(graceMs) })
          process.kill(pid, image.config.StopSignal)
          const [code] = await ended
          return code
        },
      }
    },
  }
}
