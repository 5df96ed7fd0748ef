import Type, { type Static, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { BackupError } from './backup-folder.ts'

/** A name without control characters, which would control the terminal that prints them. */
const Name = Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]{1,63}$' })
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** A table in the file. Its zstd frame is at `offset`; `sha256` is the hash of its COPY text. */
const Part = Type.Object({
  table: Name,
  columns: Type.Array(Name, { minItems: 1 }),
  rows: Count,
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  offset: Count,
  bytes: Count,
})

const Sequence = Type.Object({
  table: Name,
  column: Name,
  last: Type.String({ pattern: '^[1-9][0-9]{0,17}$' }),
  isCalled: Type.Boolean(),
})

/** The fields that every version can read. */
const Head = Type.Object({
  product: Type.Literal('vslukh'),
  format: Type.Integer(),
  version: Type.String({ pattern: '^[0-9A-Za-z.+-]{1,64}$' }),
})

const Manifest = Type.Object({
  ...Head.properties,
  format: Type.Literal(1),
  migration: Name,
  createdAt: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
  /** Null if the backup was made without the secret. */
  secret: Type.Union([Type.Null(), Type.String({ minLength: 32, maxLength: 10_000 })]),
  parts: Type.Array(Part, { maxItems: 1000 }),
  /** The tables that this version left out. Another version may include them, or lack them. */
  leftOut: Type.Optional(Type.Array(Name, { maxItems: 1000 })),
  sequences: Type.Array(Sequence, { maxItems: 1000 }),
})

export type Part = Static<typeof Part>
export type Sequence = Static<typeof Sequence>
export type Manifest = Static<typeof Manifest>

/** Parses and checks the manifest of a file that may be hostile. Throws BackupError. */
export function parseManifest(
  text: string,
  { path, start, end }: { path: string; start: number; end: number },
): Manifest {
  const value = parseJson(text)
  if (!Value.Check(Type.Object({ product: Head.properties.product }), value)) {
    throw new BackupError(`Файл ${path} — не копия стены.`)
  }
  const wrong = (field: string) =>
    new BackupError(`Копия ${path} неверна: в её описи неверно поле ${field}. Возьмите другую.`)
  const requireAll = (schema: TSchema) => {
    const [error] = Value.Errors(schema, value)
    if (!error) return
    const [missing] = error.keyword === 'required' ? error.params.requiredProperties : []
    throw wrong(missing === undefined ? error.instancePath : `${error.instancePath}/${missing}`)
  }
  requireAll(Head)
  const { format, version } = value as Static<typeof Head>
  if (format !== 1) {
    throw new BackupError(
      `Копия ${path} записана в формате ${format}, а эта версия знает формат 1. Поставьте версию ${version} или новее.`,
    )
  }
  requireAll(Manifest)
  const manifest = value as Manifest
  if (Number.isNaN(Date.parse(manifest.createdAt))) throw wrong('/createdAt')
  for (const [index, { offset, bytes, table }] of manifest.parts.entries()) {
    if (offset < start || bytes === 0 || offset + bytes > end) throw wrong(`/parts/${index}/offset`)
    const first = manifest.parts.findIndex((part) => part.table === table)
    if (first !== index) throw wrong(`/parts/${index}/table`)
  }
  return manifest
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
