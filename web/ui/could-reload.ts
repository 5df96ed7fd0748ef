const PATIENCE_MS = 3000

/** Whether the server would answer a reload now. Without an answer, a reload would only lose what is on the screen. */
export async function couldReload(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const { status } = await fetch(location.href, { method: 'HEAD', cache: 'no-store', signal })
    return status < 500
  } catch {
    return false
  }
}
