type Settings = { appName: string; editPeriodSeconds: number }

let kept: Settings | null = null

/** What the server's configuration says to the page, in its meta tags; the product's own values where a tag is missing. */
export function settings(): Settings {
  kept ??= {
    appName: readMeta('application-name') || 'Вслух',
    editPeriodSeconds: Number(readMeta('edit-period-seconds')) || 600,
  }
  return kept
}

/** Whether the server saw no session cookie with this page, so that asking for a token would only fail. */
export function cameWithoutSession(): boolean {
  return readMeta('session') === 'none'
}

function readMeta(name: string): string | null {
  if (typeof document === 'undefined') return null
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? null
}
