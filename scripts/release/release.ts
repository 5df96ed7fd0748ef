import { execFile } from 'node:child_process'
import { createHash, hash } from 'node:crypto'
import {
  copyFile,
  cp,
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { isAdditive, MIGRATIONS } from '../../server/kernel/db/migrate.ts'
import { buildWebIfNeeded } from '../build-web-if-needed.ts'
import { makeBashCompletion } from './bash-completion.ts'
import { makeDeb } from './deb.ts'

const ROOT = join(import.meta.dirname, '../..')
export const PARTS = [
  'package.json',
  'bin',
  'contract',
  'deploy',
  'docs',
  'operator',
  'server',
  'scripts/start.ts',
  'scripts/admin.ts',
  'scripts/open-files.ts',
  'scripts/build-web-if-needed.ts',
  'scripts/installed-packages.ts',
  'scripts/compile-cache.ts',
  'dist/web',
]
const BUILD = 'build'
const REPOSITORY_FILE = 'repository'
const DAY_FILE = 'released'
const NODE = `node_modules/node-${process.platform}-${process.arch}`
/** Unused at run time: tests, types, maps, fonts for old browsers, Node's headers and manual. */
const LEFT_OUT = [
  /\.(?:test|fixture)\.(?:ts|backup)$/,
  /^server\/testing$/,
  /^node_modules\/.*\.(?:map|d\.[cm]?ts|md)$/,
  /^node_modules\/@fontsource.*\.(?:woff|s?css)$/,
  /^node_modules\/node-\w+-\w+\/(?:include|share)$/,
]

const execute = promisify(execFile)

type LockedPackage = { dev?: boolean; devOptional?: boolean; optional?: boolean }

type ReleaseOptions = { isDeb?: boolean | undefined; arch?: string | undefined }

/**
 * Makes an archive of the product, with Node, PostgreSQL and the built web, or a Debian package of
 * the same. Returns its path in `folder`, which it creates, and writes its sum to SHA256SUMS there.
 */
export async function makeRelease(
  folder: string,
  { isDeb = false, arch = process.arch }: ReleaseOptions = {},
): Promise<string> {
  await buildWebIfNeeded()
  await mkdir(folder, { recursive: true })
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const name = `vslukh-${version}-${process.platform}-${arch}`
  await using staging = await mkdtempDisposable(join(tmpdir(), 'vslukh-release-'))
  const root = staging.path
  await stageRelease(join(root, isDeb ? 'usr/lib/vslukh' : name), arch)
  const file = isDeb
    ? await makeDeb({ root, version, arch, folder })
    : await makeArchive(root, { name, folder })
  await writeSums(folder)
  return file
}

async function makeArchive(root: string, { name, folder }: { name: string; folder: string }) {
  const archive = join(folder, `${name}.tar.gz`)
  // If root unpacks it, no file may belong to the user who happens to have the builder's id.
  const owner = ['--owner=0', '--group=0', '--numeric-owner']
  await execute('tar', ['-czf', archive, ...owner, '-C', root, name])
  return archive
}

async function writeSums(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /\.(?:tar\.gz|deb)$/.test(name))
  const lines = names.map(async (name) => {
    return `${hash('sha256', await readFile(join(folder, name)))}  ${name}\n`
  })
  await writeFile(join(folder, 'SHA256SUMS'), (await Promise.all(lines)).join(''))
}

/** Writes what bin/switch-release reads, because it must work with a release that does not start. */
export async function describeMigrations(release: string): Promise<void> {
  const migrations = Object.entries(MIGRATIONS).map(
    ([migration, text]) => `${migration} ${isAdditive(text) ? 'additive' : 'breaking'}\n`,
  )
  await writeFile(join(release, 'migrations'), migrations.join(''))
}

async function stageRelease(target: string, arch: string): Promise<void> {
  for (const part of PARTS) await copyPart(part, ROOT, target)
  await using other = await mkdtempDisposable(join(tmpdir(), `vslukh-${arch}-`))
  const isOwn = arch === process.arch
  if (!isOwn) await installFor(arch, other.path)
  for (const part of await listPackages(arch)) {
    await copyPart(part, isOwn ? ROOT : other.path, target)
  }
  if (isOwn) await copyLibrary(target)
  await mkdir(join(target, 'node_modules/.bin'))
  await symlink('../../bin/run-node', join(target, 'node_modules/.bin/node'))
  await describeMigrations(target)
  await writeFile(join(target, 'deploy/vslukh.bash-completion'), await makeBashCompletion())
  // The workflow that publishes releases sets it; `vslukh upgrade` accepts only its archives then.
  const { GITHUB_REPOSITORY: repository } = process.env
  if (repository) await writeFile(join(target, REPOSITORY_FILE), `${repository}\n`)
  await writeFile(join(target, DAY_FILE), `${await dayOfRelease()}\n`)
  await describeBuild(target)
}

/** Returns the day of the last commit, so that the same commit makes the same release; else today. */
async function dayOfRelease(): Promise<string> {
  const { stdout } = await execute('git', ['-C', ROOT, 'log', '-1', '--format=%cs']).catch(() => ({
    stdout: new Date().toISOString().slice(0, 10),
  }))
  return stdout.trim()
}

/** Writes version, sum of all files and size for bin/switch-release. */
export async function describeBuild(release: string): Promise<void> {
  const found = await readdir(release, { recursive: true, withFileTypes: true })
  const paths = found
    .filter((entry) => entry.isFile() && entry.name !== BUILD)
    .map(({ parentPath, name }) => relative(release, join(parentPath, name)))
  const sums = createHash('sha256')
  for (const path of paths.sort()) {
    sums.update(`${path} ${hash('sha256', await readFile(join(release, path)))}\n`)
  }
  const { version } = JSON.parse(await readFile(join(release, 'package.json'), 'utf8'))
  const { stdout: size } = await execute('du', ['-sk', release])
  const kib = Number.parseInt(size, 10)
  await writeFile(join(release, BUILD), `${version} ${sums.digest('hex')} ${kib}\n`)
}

async function installFor(arch: string, folder: string): Promise<void> {
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
    await copyFile(join(ROOT, file), join(folder, file))
  }
  const platform = [`--os=${process.platform}`, `--cpu=${arch}`]
  await execute('npm', ['ci', '--omit=dev', ...platform], { cwd: folder })
}

export async function listPackages(arch: string = process.arch): Promise<string[]> {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'))
  const { optionalDependencies } = packages['']
  const platform = Object.keys(optionalDependencies).filter(
    (name) => name.includes(process.platform) && name.endsWith(arch),
  )
  const needed = Object.entries<LockedPackage>(packages)
    .filter(([path, { dev, devOptional, optional }]) => path && !dev && !devOptional && !optional)
    .map(([path]) => path)
    .filter((path) => !path.includes('node_modules/@types/'))
  return [...needed, ...platform.map((name) => `node_modules/${name}`)]
}

/** Copies a part without nested packages, which are parts of their own. */
export async function copyPart(part: string, root: string, target: string): Promise<void> {
  await cp(join(root, part), join(target, part), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => {
      const path = relative(root, source)
      const isNested = path !== part && path.endsWith('/node_modules')
      return !isNested && !LEFT_OUT.some((pattern) => pattern.test(path))
    },
  })
}

const LIBRARY_NOTE = `libatomic.so.1 is a part of GCC (https://gcc.gnu.org): GPL-3.0 with the GCC Runtime Library Exception 3.1.
It comes unchanged from the system on which this archive was made, whose packages have its source.
bin/run-node uses it where the machine has none.
`

/** Returns the library that Node needs and a minimal Debian lacks. Other systems need none. */
export async function nodeLibrary(): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined
  const { stdout } = await execute('ldd', [join(ROOT, NODE, 'bin/node')])
  return /libatomic\.so\.1 => (\S+)/.exec(stdout)?.[1]
}

async function copyLibrary(release: string): Promise<void> {
  const path = await nodeLibrary()
  if (path === undefined) return
  const folder = join(release, NODE, 'lib')
  await mkdir(folder)
  await copyFile(path, join(folder, 'libatomic.so.1'))
  await writeFile(join(folder, 'README.txt'), LIBRARY_NOTE)
}

if (import.meta.main) {
  const options = { deb: { type: 'boolean' }, arch: { type: 'string' } } as const
  const { deb: isDeb, arch } = parseArgs({ options }).values
  const file = await makeRelease(join(ROOT, 'dist/releases'), { isDeb, arch })
  const { size } = await stat(file)
  console.log(`${relative(process.cwd(), file)}: ${(size / 1e6).toFixed(1)} МБ`)
}
