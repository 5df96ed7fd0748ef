import { spawn } from 'node:child_process'
import { chmod, chown, cp, mkdir, realpath, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { findParts } from '../../scripts/release/native-parts.ts'
import { listPackages, makeRelease } from '../../scripts/release/release.ts'
import { endChild, untilReady } from '../../server/testing/process/child-process.ts'
import { asRoot, folderForTest } from '../../server/testing/process/folder-for-test.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { ROOT, run } from './deploy-file.ts'

/** The list of a release's files is longer than what execFile allows. */
const BIG_OUTPUT = { maxBuffer: 64 * 1024 * 1024 }
const LARGEST_BYTES = 90e6
/**
 * The PATH of a user's shell, without the Node of node_modules that npm and its tools put first.
 */
const SHELL_PATH = process.env.PATH?.replaceAll(/[^:]*node_modules\/.bin:/g, '')
asRoot(
  'a release runs in an empty folder, without environment, Node, its library or network, and serves the wall over HTTP; its files are root’s',
  async () => {
    const folder = await folderForTest()
    // Files in this folder get a group that the archive must not name.
    await chown(folder, 0, 12_345)
    await chmod(folder, 0o2755)
    vi.stubEnv('TMPDIR', folder)
    onTestFinished(() => void vi.unstubAllEnvs())
    const archive = await makeRelease(folder)
    const { stdout: files } = await run('tar', ['--numeric-owner', '-tvzf', archive], BIG_OUTPUT)
    expect(files.match(/^(?!\S+ 0\/0 ).+$/gm)).toBe(null)
    expect((await stat(archive)).size).toBeLessThan(LARGEST_BYTES)
    await mkdir(join(folder, 'opt'))
    await run('tar', ['-xzf', archive, '-C', join(folder, 'opt')])
    const release = join(folder, 'opt', basename(archive, '.tar.gz'))
    const parts = await findParts(release)
    expect(parts.map(({ part }) => part.name)).toEqual(
      (await findParts()).map(({ part }) => part.name),
    )

    const port = await freePort()
    const dataDir = join(folder, 'data')
    const env = { DATA_DIR: dataDir, XDG_CACHE_HOME: join(folder, 'cache'), PORT: String(port) }
    // In a network of its own, which has nothing but loopback, and without the system's library, as
    // on a minimal Debian.
    const { stdout: needed } = await run('ldd', [await realpath(process.execPath)])
    const library = await realpath(/libatomic\.so\.1 => (\S+)/.exec(needed)?.[1] ?? '')
    const start = `ip link set lo up && mount --bind /dev/null ${library} && exec node_modules/.bin/node scripts/start.ts`
    const server = spawn('/usr/bin/unshare', ['--net', '--mount', '/bin/sh', '-c', start], {
      cwd: release,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => endChild(server))
    await untilReady(server)

    const inside = async (...program: string[]) => {
      const namespaces = ['--target', String(server.pid), '--net', '--mount']
      return (await run('/usr/bin/nsenter', [...namespaces, ...program], { env })).stdout
    }
    const fetched = (path: string) =>
      inside('/usr/bin/curl', '-sSf', `http://127.0.0.1:${port}${path}`)
    const page = await fetched('/')
    expect(page).toMatch(/^<!doctype html>[\s\S]*Вслух/i)
    expect(await fetched('/api/v1/posts')).toContain('"posts":[]')
    await fetched(/\/assets\/app[\w-]+\.js/.exec(page)?.[0] ?? '/no-script')

    const status = () => inside(join(release, 'bin/vslukh'), 'status', '--json')
    expect(JSON.parse(await status())).toBeTypeOf('object')
    const nodes = join(release, 'node_modules')
    await rm(join(nodes, `node-${process.platform}-${process.arch}`, 'lib'), { recursive: true })
    await expect(status()).rejects.toThrow(/\nNode не запускается: .*apt-get install libatomic1/)
  },
)

test('the list of components for a security review is made of what is installed, and names what runs in production only', async () => {
  const { stdout } = await run('npm', ['run', '--silent', 'sbom'], { cwd: ROOT, ...BIG_OUTPUT })
  const { bomFormat, components } = JSON.parse(stdout)
  expect(bomFormat).toBe('CycloneDX')
  const names = components.map(({ name }: { name: string }) => name)
  const installed = await listPackages()
  const missing = installed.filter((path) => !names.includes(path.split('node_modules/').at(-1)))
  expect(missing).toEqual([])
  expect(names).toEqual(expect.arrayContaining(['fastify', 'nodemailer', 'pg-protocol']))
  expect(names).not.toContain('vitest')
  expect(components).toContainEqual(expect.objectContaining({ name: 'OpenSSL', version: '1.1.1' }))
})

test('every native file of a release is a part with a version, and with a month unless the building system keeps it new', async () => {
  const found = await findParts()
  const undated = found.filter(({ released }) => released === undefined)
  expect(undated.map(({ part }) => part.name)).toEqual(['libatomic'])
  expect(found.map(({ part, version }) => `${part.name} ${version}`)).toEqual(
    expect.arrayContaining([`Node ${process.versions.node}`, 'PostgreSQL 18.4', 'libxml2 2.9.4']),
  )
})

test('npm prints no warning with the oldest supported Node, for all packages or for those that the server needs', async ({
  skip,
}) => {
  const folder = await folderForTest()
  const shell = { cwd: folder, env: { ...process.env, PATH: SHELL_PATH } }
  const { stdout: version } = await run('node', ['--version'], shell)
  skip(!version.startsWith('v20.'), `this machine has Node ${version.trim()} and not 20`)
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
    await cp(join(ROOT, file), join(folder, file))
  }
  for (const options of [[], ['--omit=dev']]) {
    const { stdout, stderr } = await run('npm', ['ci', ...options], shell)
    expect(stdout + stderr).toMatch(/added \d+ packages/)
    expect(stdout + stderr).not.toMatch(/warn|EBADENGINE|deprecated/i)
  }
})
