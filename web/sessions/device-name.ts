import type { Device } from '../../contract/fields.ts'

/** How a device is called in the list: its browser, or a word for one that did not say. */
export function browserName({ userAgent, userAgentVersion }: Device): string {
  const major = userAgentVersion.split('.')[0]
  return [userAgent || 'Неизвестный браузер', major].filter(Boolean).join(' ')
}

/** The device's operating system, or a word for one that did not say. */
export function systemName({ os }: Device): string {
  return os || 'Неизвестная система'
}
