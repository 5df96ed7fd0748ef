import type { PageSettings } from '../../contract/pages.ts'

let cached: PageSettings | null = null

/** The server's settings, from the page's meta tags; the product's own values where a tag is missing. */
export function settings(): PageSettings {
  cached ??= {
    appName: readMeta('application-name') || 'Вслух',
    editPeriodSeconds: Number(readMeta('edit-period-seconds')) || 600,
  }
  return cached
}

/** Sets the settings where there are no meta tags, on the server. */
export function setSettings(settings: PageSettings): void {
  cached = settings
}

/**
 * Whether the request for this page carried no session cookie. Then there is no session, or the browser held the cookie
 * back, as it does with a link on another site.
 */
export function cameWithoutCookie(): boolean {
  return readMeta('session') !== null
}

/** Whether a service worker should be registered: not where the operator has switched it off. */
export function wantsServiceWorker(): boolean {
  return readMeta('service-worker') !== 'off'
}

function readMeta(name: string): string | null {
  if (typeof document === 'undefined') return null
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? null
}
