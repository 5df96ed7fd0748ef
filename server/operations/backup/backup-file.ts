import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { sizeOfNamedFile, streamNamedFile } from '../../kernel/config/opened-files.ts'
import { runOnDisk } from '../../kernel/disk/disk.ts'
import { type Append, BackupError, explainFileError } from './backup-folder.ts'
import { type Manifest, type Part, parseManifest } from './manifest.ts'
import type { Progress } from './progress.ts'

// A backup consists of MAGIC, the parts, the manifest as JSON, the manifest's length in four bytes,
// and the SHA-256 of everything before.
const MAGIC = Buffer.from('VSLUKH1\n')
const LENGTH_BYTES = 4
const SUM_BYTES = 32
const LARGEST_MANIFEST = 1_000_000

/** Writes the parts of a backup into an empty file, and the manifest at its end. */
export class BackupWriter {
  /** The number of bytes written. */
  bytes = 0
  readonly #append: Append
  readonly #sum = createHash('sha256')
  readonly #signal: AbortSignal | undefined

  constructor(append: Append, signal?: AbortSignal) {
    this.#append = append
    this.#signal = signal
  }

  /** Compresses a table's COPY text into the file. Resolves to the part's entry in the manifest. */
  async addPart(
    copy: Readable,
    onRows?: (rows: number) => void,
  ): Promise<Omit<Part, 'table' | 'columns'>> {
    await this.#begin()
    const offset = this.bytes
    const counted = countRows(onRows)
    const write = async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await this.#write(chunk)
    }
    const options = { signal: this.#signal }
    await pipeline(copy, counted.through, createZstdCompress(), write, options)
    return { ...counted.result(), offset, bytes: this.bytes - offset }
  }

  async finish(manifest: Manifest): Promise<void> {
    const text = Buffer.from(JSON.stringify(manifest))
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt32BE(text.length)
    await this.#begin()
    await this.#write(text)
    await this.#write(length)
    await this.#write(this.#sum.digest(), false)
  }

  async #begin(): Promise<void> {
    if (this.bytes === 0) await this.#write(MAGIC)
  }

  async #write(chunk: Buffer, isSummed = true): Promise<void> {
    if (isSummed) this.#sum.update(chunk)
    await this.#append(chunk)
    this.bytes += chunk.length
  }
}

/** Passes COPY text on, and counts the line feeds, which end rows: COPY escapes all others. */
export function countRows(onRows: (rows: number) => void = () => {}) {
  const sum = createHash('sha256')
  let rows = 0
  return {
    async *through(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        sum.update(chunk)
        for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) rows++
        onRows(rows)
        yield chunk
      }
    },
    result: () => ({ rows, sha256: sum.digest('hex') }),
  }
}

type Reading = {
  isSummed?: boolean
  signal?: AbortSignal | undefined
  onProgress?: Progress | undefined
}

/** Returns the manifest. With `isSummed`, checks the whole file. Throws BackupError if damaged. */
export async function readManifest(path: string, reading: Reading = {}): Promise<Manifest> {
  const read = () => readAndVerify(path, reading)
  try {
    // Reading a whole file may take hours.
    return await (reading.isSummed === false ? runOnDisk(dirname(path), read) : read())
  } catch (cause) {
    throw explainFileError(cause, `Файл ${path} не открывается`)
  }
}

async function readAndVerify(
  path: string,
  { isSummed = true, signal, onProgress }: Reading,
): Promise<Manifest> {
  const bytes = (start: number, length: number) =>
    buffer(streamNamedFile(path, { start, end: start + length - 1 }))
  const size = await sizeOfNamedFile(path)
  const head = await bytes(0, MAGIC.length)
  if (!head.equals(MAGIC)) throw new BackupError(`Файл ${path} — не копия стены.`)
  const damaged = new BackupError(`Копия ${path} повреждена или не дописана. Возьмите другую.`)
  const end = size - SUM_BYTES
  if (end < MAGIC.length + LENGTH_BYTES) throw damaged
  const tail = await bytes(end - LENGTH_BYTES, LENGTH_BYTES + SUM_BYTES)
  const sum = isSummed && (await sumOf(path, end, { signal, onProgress }))
  if (sum && !sum.equals(tail.subarray(LENGTH_BYTES))) throw damaged
  const length = tail.readUInt32BE()
  if (length === 0 || length > Math.min(LARGEST_MANIFEST, end - LENGTH_BYTES)) throw damaged
  return parseManifest(String(await bytes(end - LENGTH_BYTES - length, length)), path)
}

async function sumOf(
  path: string,
  bytes: number,
  { signal, onProgress = () => {} }: Reading,
): Promise<Buffer> {
  const sum = createHash('sha256')
  let read = 0
  for await (const chunk of streamNamedFile(path, { end: bytes - 1, signal })) {
    sum.update(chunk)
    read += chunk.length
    onProgress('sum', read, bytes)
  }
  return sum.digest()
}

/** Returns the streams that read and decompress a part. */
export function readPart(path: string, { offset, bytes }: Part) {
  return [
    streamNamedFile(path, { start: offset, end: offset + bytes - 1 }),
    createZstdDecompress(),
  ] as const
}
