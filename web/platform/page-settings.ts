import type { PageSettings } from '../../contract/pages.ts'

let cached: PageSettings | null = null

export function settings(): PageSettings {
  cached ??= {
    appName: readMeta('application-name') || 'Вслух',
    editPeriodSeconds: Number(readMeta('edit-period-seconds')) || 600,
  }
  return cached
}

export function setSettings(settings: PageSettings): void {
  cached = settings
}

/** Returns whether the request had no session cookie, as after a link on another site. */
export function cameWithoutCookie(): boolean {
  return document.querySelector('meta[name=session]') !== null
}

export function wantsServiceWorker(): boolean {
  return readMeta('service-worker') !== 'off'
}

export function readMeta(name: string): string | null {
  if (typeof document === 'undefined') return null
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? null
}
