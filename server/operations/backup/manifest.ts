import Type, { type Static } from 'typebox'
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
  bytes: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
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
  createdAt: Type.String({ format: 'date-time' }),
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

/** Parses the manifest of the file at `path`. Throws BackupError if no version has written it. */
export function parseManifest(text: string, path: string): Manifest {
  const value = parseJson(text)
  if (!Value.Check(Head, value)) throw new BackupError(`Файл ${path} — не копия стены.`)
  if (value.format !== 1) {
    throw new BackupError(
      `Копия ${path} записана в формате ${value.format}, а эта версия знает формат 1. Поставьте версию ${value.version} или новее.`,
    )
  }
  if (Value.Check(Manifest, value)) return value
  const [error] = Value.Errors(Manifest, value)
  throw new BackupError(
    `Копия ${path} неверна: в её описи неверно поле ${error?.instancePath}. Возьмите другую.`,
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
