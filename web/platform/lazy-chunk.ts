const RELOAD_TIMEOUT_MS = 3000

export type LazyChunk<Content> = {
  content: () => Content | undefined
  /** Concurrent calls share one promise. After a failure, the next call tries again. */
  load: () => Promise<Content>
  preload: () => Promise<void>
}

/** Creates a lazy chunk. React.lazy never retries a failed import, and cannot preload. */
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

/**
 * Preloads, except offline without a service worker, which stores all scripts: browsers before 2026
 * remember a failed script until a reload.
 */
export async function preload(load: () => Promise<unknown>): Promise<void> {
  const isStored = !!navigator.serviceWorker?.controller
  if (navigator.onLine || isStored) await load().catch(() => undefined)
}

/** Reloads only if the server answers, because otherwise the reload would lose the page. */
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
