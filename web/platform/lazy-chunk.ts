const RELOAD_TIMEOUT_MS = 3000

/** A piece of the app in a chunk of its own, such as a page or a dialog. */
export type LazyChunk<Content> = {
  content: () => Content | undefined
  /** Concurrent calls share one request. A failure is not remembered: the next call tries again. */
  load: () => Promise<Content>
  preload: () => Promise<void>
}

/** Replaces React.lazy, which remembers a failed import for ever and offers no preload. */
export function createLazyChunk<Module, Name extends keyof Module>(
  importModule: () => Promise<Module>,
  name: Name,
): LazyChunk<Module[Name]> {
  let content: Module[Name] | undefined
  let loading: Promise<Module[Name]> | undefined

  async function loadOnce(): Promise<Module[Name]> {
    try {
      content = (await importModule())[name]
      return content
    } catch (error) {
      loading = undefined
      throw error
    }
  }

  function load(): Promise<Module[Name]> {
    loading ??= loadOnce()
    return loading
  }

  return { content: () => content, load, preload: () => preload(load) }
}

/** Browsers before 2026 remember a failed script until a reload, so nothing is loaded offline. */
export async function preload(load: () => Promise<unknown>): Promise<void> {
  if (navigator.onLine) await load().catch(() => undefined)
}

/** A reload without an answer would lose all that is on the screen. */
export async function reloadIfPossible(): Promise<void> {
  if (await canReload()) location.reload()
}

export async function canReload(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(RELOAD_TIMEOUT_MS)
    const { status } = await fetch(location.href, { method: 'HEAD', cache: 'no-store', signal })
    return status < 500
  } catch {
    return false
  }
}
