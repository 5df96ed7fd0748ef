import { CODE_ATTEMPTS } from '../../contract/constants.ts'
import { CallError } from '../http/call-error.ts'
import { isRecord, sessionStore } from '../platform/storage.ts'
import { CODE_LIFE_MS, type MailedCode } from './mailed-code.ts'

type WrongCodes = { id: string; startedAt: number; count: number }

const KEY = 'wrong-codes'

/** The server says only that a code is wrong, so wrong codes are counted in this tab. */
export async function countingWrongCodes<Answer>(
  { id, sentAt }: MailedCode,
  verify: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await verify()
  } catch (error) {
    if (error instanceof CallError && error.code === 'INVALID_CONFIRM_CODE') {
      const before = read(id) ?? { id, startedAt: sentAt, count: 0 }
      sessionStore.writeJson(KEY, { ...before, count: before.count + 1 } satisfies WrongCodes)
    }
    throw error
  }
}

export function triesLeft(id: string): number | undefined {
  const wrong = read(id)
  return wrong && Math.max(0, CODE_ATTEMPTS - wrong.count)
}

/** When an operation ends at the latest (unix milliseconds); the server may tell it later. */
export function latestEnd({ id, sentAt }: MailedCode): number {
  return (read(id)?.startedAt ?? sentAt) + CODE_LIFE_MS
}

function read(id: string): WrongCodes | undefined {
  const wrong = sessionStore.readJson(KEY, isWrongCodes)
  return wrong?.id === id ? wrong : undefined
}

function isWrongCodes(value: unknown): value is WrongCodes {
  return (
    isRecord(value) &&
    typeof value.id === 'string' &&
    typeof value.startedAt === 'number' &&
    typeof value.count === 'number'
  )
}
