import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises'
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
/** What nobody reads at run time: tests, types, source maps, and Node's headers and pages of the manual. */
const LEFT_OUT = [
  /\.test\.ts$/,
  /^server\/testing$/,
  /^node_modules\/.*\.(?:map|d\.[cm]?ts|md)$/,
  new RegExp(`^${NODE}/(?:include|share)$`),
]

type LockedPackage = { dev?: boolean; devOptional?: boolean; optional?: boolean }

/**
 * Makes an archive of the product for machines like this one, with Node, PostgreSQL and the built web: it runs where nothing else
 * is installed. Returns the path of the archive, in `folder`, which it creates. Throws where a part is missing or tar fails.
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
    await symlink(
      join('..', relative('node_modules', NODE), 'bin/node'),
      join(target, 'node_modules/.bin/node'),
    )
    await mkdir(folder, { recursive: true })
    const archive = join(folder, `${name}.tar.gz`)
    await promisify(execFile)('tar', ['-czf', archive, '-C', staging, name])
    return archive
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** Returns the folders of the installed packages that the server needs, by the marks of the lock file. */
async function listPackages(): Promise<string[]> {
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

/** Copies a file or a folder, without what is left out; packages inside a package are parts of their own. */
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

if (import.meta.main) {
  const archive = await makeRelease(join(ROOT, 'dist/releases'))
  const { size } = await stat(archive)
  console.log(`${relative(process.cwd(), archive)}: ${(size / 1e6).toFixed(1)} МБ`)
}
