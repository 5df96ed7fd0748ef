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

/**
 * Whether the server saw no session cookie with this page: there is no session then, or the browser did not send its
 * cookie along, as with a link on another site.
 */
export function cameWithoutCookie(): boolean {
  return readMeta('session') !== null
}

function readMeta(name: string): string | null {
  if (typeof document === 'undefined') return null
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? null
}
