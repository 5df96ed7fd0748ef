/** A piece of the app in a chunk of its own, such as a page or a window. */
export type Part<Content> = {
  /** What was fetched, once it is there. */
  content: () => Content | undefined
  /** Fetches it, once for all who ask. A failure is forgotten: who asks next begins anew. */
  load: () => Promise<Content>
  /** Fetches it before anybody wants it, and says nothing of a failure. */
  ahead: () => Promise<void>
}

/** A part that `fetchContent` brings when it is first wanted. */
export function createPart<Content>(fetchContent: () => Promise<Content>): Part<Content> {
  let content: Content | undefined
  let loading: Promise<Content> | undefined

  async function fetchOnce(): Promise<Content> {
    try {
      content = await fetchContent()
      return content
    } finally {
      loading = undefined
    }
  }

  async function load(): Promise<Content> {
    if (content !== undefined) return content
    loading ??= fetchOnce()
    return loading
  }

  return { content: () => content, load, ahead: () => quietly(load) }
}

/**
 * Fetches a chunk ahead. Not offline: browsers of before 2026 remember until a reload that a script failed, so a mere
 * guess must not spoil what the person asks for later.
 */
export async function quietly(load: () => Promise<unknown>): Promise<void> {
  if (navigator.onLine) await load().catch(() => undefined)
}
