import { formatTime } from '../../../contract/dates.ts'
import type { Device } from '../../../contract/fields.ts'

export type MailOptions = {
  appName: string
  /** The origin that people see, for links. */
  origin: string
}

/** For mails that name whom to write to. */
export type NoticeOptions = MailOptions & { contact: string | undefined }

/** Names as the web app sends them (those of bowser). */
const BROWSERS = [
  'Chrome',
  'Chromium',
  'Firefox',
  'Microsoft Edge',
  'Opera',
  'Safari',
  'Samsung Internet for Android',
  'Vivaldi',
  'Yandex Browser',
]
const SYSTEMS = ['Android', 'Chrome OS', 'iOS', 'Linux', 'macOS', 'Windows']

/**
 * Names the browser and the system of a device, such as «Firefox, Linux». Only known names are
 * repeated: whoever asks for a code chooses the text and the address.
 */
export function nameDevice(device: Device | null): string | null {
  if (device === null) return null
  const browser = BROWSERS.find((name) => device.userAgent === name)
  const system = SYSTEMS.find((name) => `${device.os} `.startsWith(`${name} `))
  return [browser, system].filter(Boolean).join(', ') || null
}

/**
 * Returns when something happened and by which device: «21 ноября в 10:00 по Москве, Firefox,
 * Linux».
 */
export function whenAndWhere(at: number, device: string | null): string {
  return `${formatTime(at)}${device === null ? '' : `, ${device}`}`
}
