import { PassThrough, Readable } from 'node:stream'
import { ZipFile } from 'yazl'
import { readSignedText, signText } from '../../kernel/config/app-secret.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import {
  EXPORTED_LISTS,
  type ExportedPost,
  selectAccount,
  selectOwnPosts,
} from './data-export.repository.ts'
import { readablePage } from './readable-page.ts'

/** Streams a zip archive of all data about a user. Throws USER_NOT_FOUND. */
export async function exportData(
  db: Queryable,
  userId: string,
  appName: string,
): Promise<Readable> {
  const account = await selectAccount(db, userId)
  if (!account) throw new AppError('USER_NOT_FOUND')
  const posts = () =>
    readInSteps<ExportedPost>((last) => selectOwnPosts(db, userId, { after: last?.id ?? '0' }))

  const zip = new ZipFile()
  // A PassThrough ends at once when it is destroyed, unlike an iteration over `outputStream`.
  const output = (zip.outputStream as Readable).pipe(new PassThrough())
  const add = (name: string, content: () => AsyncIterable<string>) =>
    zip.addReadStreamLazy(name, (use) => {
      const stream = Readable.from(content())
      stream.on('error', (error) => output.destroy(error))
      use(null, stream)
    })
  zip.on('error', (error: Error) => output.destroy(error))
  zip.addBuffer(Buffer.from(JSON.stringify(account, null, 2)), 'account.json')
  add('posts.json', () => jsonArray(posts()))
  for (const [name, { next }] of Object.entries(EXPORTED_LISTS)) {
    const read = async (last = { id: '0' }) => (await next(userId, last).execute(db)).rows
    add(name, () => jsonArray(readInSteps(read)))
  }
  add('index.html', () => readablePage({ appName, account, posts: posts() }))
  zip.end()
  return output
}

async function* readInSteps<Row>(
  read: (last: Row | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let rows = await read(undefined)
  while (rows.length > 0) {
    yield rows
    rows = await read(rows.at(-1))
  }
}

async function* jsonArray(steps: AsyncIterable<object[]>): AsyncGenerator<string> {
  let separator = '[\n'
  for await (const rows of steps) {
    yield separator + rows.map((row) => JSON.stringify(row)).join(',\n')
    separator = ',\n'
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n'
}

const TICKET_MS = 60_000

export function createTicket(userId: string, key: Buffer): string {
  return signText(`${userId}.${Date.now() + TICKET_MS}`, key)
}

/** Returns the id of the ticket's user; undefined if the ticket is forged or expired. */
export function readTicket(ticket: string, key: Buffer): string | undefined {
  const [userId, until] = readSignedText(ticket, key)?.split('.') ?? []
  return Number(until) > Date.now() ? userId : undefined
}
