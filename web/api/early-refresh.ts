type EarlyRefresh = { clientToken: string; response: Response; receivedAt: number }

declare global {
  /** The refresh that the script in index.html began; null where another tab was refreshing, or no answer came. */
  var earlyRefresh: Promise<EarlyRefresh | null> | undefined
}

/**
 * Returns, once, the answer to the refresh that the page began before its scripts were there, and when it came in
 * milliseconds of Date.now(); null where it began none, got none, or asked as another browser than `clientToken`.
 */
export async function takeEarlyRefresh(clientToken: string): Promise<EarlyRefresh | null> {
  const early = (await globalThis.earlyRefresh) ?? null
  globalThis.earlyRefresh = undefined
  return early?.clientToken === clientToken ? early : null
}
