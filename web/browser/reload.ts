const TIMEOUT_MS = 3000

/** Reloads the page if the server answers. Without an answer, a reload would lose all that is on the screen. */
export async function reloadIfPossible(): Promise<void> {
  if (await canReload()) location.reload()
}

/** Whether the server would answer a reload now, within 3 s. */
export async function canReload(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const { status } = await fetch(location.href, { method: 'HEAD', cache: 'no-store', signal })
    return status < 500
  } catch {
    return false
  }
}
