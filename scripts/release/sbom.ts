import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findParts } from './native-parts.ts'

// Prints the list (CycloneDX) of the packages and native parts that the product runs on. With the
// folder of an unpacked release, lists its parts, which may differ. npm's `--omit dev` would
// leave out packages that development tools use too, so these tools are removed first.
const read = (file: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../..', file), 'utf8'))
const { devDependencies: _, ...project } = read('package.json')
const lock = read('package-lock.json')
const { devDependencies: __, ...root } = lock.packages['']
const packages = Object.entries<{ dev?: boolean; devOptional?: boolean }>(lock.packages).filter(
  ([, { dev, devOptional }]) => !dev && !devOptional,
)
const temporary = mkdtempSync(join(tmpdir(), 'vslukh-sbom-'))
// npm names the product after its folder.
const folder = join(temporary, 'vslukh')
try {
  mkdirSync(folder)
  const write = (file: string, value: object) =>
    writeFileSync(join(folder, file), JSON.stringify(value))
  write('package.json', project)
  write('package-lock.json', { ...lock, packages: { ...Object.fromEntries(packages), '': root } })
  const sbom = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const list = JSON.parse(
    execFileSync('npm', sbom, { cwd: folder, stdio: [...stdio], maxBuffer: 2 ** 26 }).toString(),
  )
  const parts = (await findParts(process.argv[2])).map(
    ({ part: { name }, version, released, path }) => ({
      'bom-ref': `${path}#${name}`,
      type: 'library',
      name,
      version,
      properties: [
        { name: 'vslukh:path', value: path },
        ...(released === undefined ? [] : [{ name: 'vslukh:released', value: released }]),
      ],
    }),
  )
  console.log(JSON.stringify({ ...list, components: [...list.components, ...parts] }, null, 2))
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
