type Settings = { appName: string; editPeriodSeconds: number }

let cached: Settings | null = null

/** The server's settings, from the page's meta tags; the product's own values where a tag is missing. */
export function settings(): Settings {
  cached ??= {
    appName: readMeta('application-name') || 'Вслух',
    editPeriodSeconds: Number(readMeta('edit-period-seconds')) || 600,
  }
  return cached
}

/**
 * Whether the request for this page carried no session cookie. Then there is no session, or the browser held the cookie
 * back, as it does with a link on another site.
 */
export function cameWithoutCookie(): boolean {
  return readMeta('session') !== null
}

function readMeta(name: string): string | null {
  if (typeof document === 'undefined') return null
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? null
}
