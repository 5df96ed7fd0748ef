import { onTestFinished } from 'vitest'

/** Closes what a test has opened once the test has finished. */
export function closeAfterTest<T extends { close(): unknown }>(opened: T): T {
  onTestFinished(async () => void (await opened.close()))
  return opened
}
