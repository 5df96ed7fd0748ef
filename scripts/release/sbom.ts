import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findParts } from './native-parts.ts'

// Prints the list (CycloneDX) of the packages and native parts that the product, or an unpacked
// release, runs on. npm's `--omit dev` would leave out packages that development tools use too.
const read = (file: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../..', file), 'utf8'))
const { devDependencies: _, ...project } = read('package.json')
const lock = read('package-lock.json')
const { devDependencies: __, ...root } = lock.packages['']
const packages = Object.entries<{ dev?: boolean; devOptional?: boolean }>(lock.packages).filter(
  ([, { dev, devOptional }]) => !dev && !devOptional,
)
using temporary = mkdtempDisposableSync(join(tmpdir(), 'vslukh-sbom-'))
// npm names the product after its folder.
const folder = join(temporary.path, 'vslukh')
mkdirSync(folder)
const write = (file: string, value: object) =>
  writeFileSync(join(folder, file), JSON.stringify(value))
write('package.json', project)
write('package-lock.json', { ...lock, packages: { ...Object.fromEntries(packages), '': root } })
const sbom = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
const options = { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 } as const
const list = JSON.parse(execFileSync('npm', sbom, options))
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
