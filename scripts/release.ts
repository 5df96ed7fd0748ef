import { execFile } from 'node:child_process'
import {
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { buildWebIfNeeded } from './build-web-if-needed.ts'

const ROOT = join(import.meta.dirname, '..')
/** What the product consists of, beside the packages it needs. */
const PARTS = [
  'package.json',
  'bin',
  'contract',
  'deploy',
  'docs',
  'operator',
  'server',
  'scripts/start.ts',
  'scripts/admin.ts',
  'scripts/build-web-if-needed.ts',
  'scripts/compile-cache.ts',
  'dist/web',
]
const NODE = `node_modules/node-${process.platform}-${process.arch}`
/** What nobody reads at run time: tests, types, source maps, fonts for old browsers, Node's headers and manual. */
const LEFT_OUT = [
  /\.(?:test|fixture|child)\.ts$/,
  /^server\/testing$/,
  /^node_modules\/.*\.(?:map|d\.[cm]?ts|md)$/,
  /^node_modules\/@fontsource.*\.(?:woff|s?css)$/,
  new RegExp(`^${NODE}/(?:include|share)$`),
]

const execute = promisify(execFile)

type LockedPackage = { dev?: boolean; devOptional?: boolean; optional?: boolean }

/**
 * Makes an archive of the product for machines like this one, with Node, PostgreSQL and the built
 * web. Returns its path in `folder`, which it creates.
 */
export async function makeRelease(folder: string): Promise<string> {
  await buildWebIfNeeded()
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const name = `vslukh-${version}-${process.platform}-${process.arch}`
  const staging = await mkdtemp(join(tmpdir(), 'vslukh-release-'))
  try {
    const target = join(staging, name)
    for (const part of [...PARTS, ...(await listPackages())]) await copyPart(part, target)
    await mkdir(join(target, 'node_modules/.bin'))
    await symlink('../../bin/run-node', join(target, 'node_modules/.bin/node'))
    await copyLibrary(join(target, NODE, 'lib'))
    await mkdir(folder, { recursive: true })
    const archive = join(folder, `${name}.tar.gz`)
    // Unpacked by root, nothing may belong to somebody who happens to have the builder's number.
    const owner = ['--owner=0', '--group=0', '--numeric-owner']
    await execute('tar', ['-czf', archive, ...owner, '-C', staging, name])
    return archive
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** The lock file marks the packages that the server needs. */
export async function listPackages(): Promise<string[]> {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'))
  const { optionalDependencies } = packages['']
  const platform = Object.keys(optionalDependencies).filter(
    (name) => name.includes(process.platform) && name.endsWith(process.arch),
  )
  const needed = Object.entries<LockedPackage>(packages)
    .filter(([path, { dev, devOptional, optional }]) => path && !dev && !devOptional && !optional)
    .map(([path]) => path)
    .filter((path) => !path.includes('node_modules/@types/'))
  return [...needed, ...platform.map((name) => `node_modules/${name}`)]
}

/** Packages inside a package are parts of their own. */
async function copyPart(part: string, target: string): Promise<void> {
  await cp(join(ROOT, part), join(target, part), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => {
      const path = relative(ROOT, source)
      const isNested = path !== part && path.endsWith('/node_modules')
      return !isNested && !LEFT_OUT.some((pattern) => pattern.test(path))
    },
  })
}

const LIBRARY_NOTE = `libatomic.so.1 is a part of GCC (https://gcc.gnu.org): GPL-3.0 with the GCC Runtime Library Exception 3.1.
It comes unchanged from the system on which this archive was made, whose packages have its source.
bin/run-node uses it where the machine has none.
`

/** Copies the library that Node needs and a minimal Debian lacks. Other systems need none. */
async function copyLibrary(folder: string): Promise<void> {
  if (process.platform !== 'linux') return
  const { stdout } = await execute('ldd', [join(ROOT, NODE, 'bin/node')])
  const path = /libatomic\.so\.1 => (\S+)/.exec(stdout)?.[1]
  if (path === undefined) return
  await mkdir(folder)
  await copyFile(path, join(folder, 'libatomic.so.1'))
  await writeFile(join(folder, 'README.txt'), LIBRARY_NOTE)
}

if (import.meta.main) {
  const archive = await makeRelease(join(ROOT, 'dist/releases'))
  const { size } = await stat(archive)
  console.log(`${relative(process.cwd(), archive)}: ${(size / 1e6).toFixed(1)} МБ`)
}
