const RELOAD_TIMEOUT_MS = 3000

/** A piece of the app in a chunk of its own, such as a page or a dialog. */
export type LazyChunk<Content> = {
  content: () => Content | undefined
  /** Concurrent calls share one request. A failure is not remembered: the next call tries again. */
  load: () => Promise<Content>
  /** Resolves also when loading fails. */
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
      await reloadStyles()
      content = (await importModule())[name]
      return content
    } finally {
      loading = undefined
    }
  }

  async function load(): Promise<Module[Name]> {
    if (content !== undefined) return content
    loading ??= loadOnce()
    return loading
  }

  return { content: () => content, load, preload: () => preload(load) }
}

const failedStyles = new Set<string>()

/** Vite's loader requests each style sheet only once, so `load` requests the failed ones again. */
export function watchFailedStyles(): void {
  const remember = ({ target }: Event) => {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') {
      failedStyles.add(target.href)
      target.remove()
    }
  }
  // An error of a link does not bubble.
  document.addEventListener('error', remember, true)
}

async function reloadStyles(): Promise<void> {
  await Promise.all([...failedStyles].map(loadStyle))
}

function loadStyle(href: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const link = document.createElement('link')
  link.onload = () => {
    failedStyles.delete(href)
    resolve()
  }
  link.onerror = () => reject(new Error(`Unable to load ${href}`))
  document.head.append(Object.assign(link, { rel: 'stylesheet', crossOrigin: '', href }))
  return promise
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
