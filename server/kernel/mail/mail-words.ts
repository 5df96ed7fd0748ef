import { formatTime } from '../../../contract/dates.ts'
import type { Device } from '../../../contract/fields.ts'

/** What mails are written with. */
export type MailOptions = {
  appName: string
  /** The origin people see, for links. */
  origin: string
}

/** What those are written with that say whom to write where the mail itself does not help. */
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
 * Names the browser and the system of a device for a mail, such as «Firefox, Linux»; null where both are unknown. Only known names
 * are repeated: whoever asks for a code chooses the text and the address, and could make the product mail anything.
 */
export function nameDevice(device: Device | null): string | null {
  if (device === null) return null
  const browser = BROWSERS.find((name) => device.userAgent === name)
  const system = SYSTEMS.find((name) => `${device.os} `.startsWith(`${name} `))
  return [browser, system].filter(Boolean).join(', ') || null
}

/** Says for a mail when something happened, in unix milliseconds, and by which device: «21 ноября в 10:00 по Москве, Firefox, Linux». */
export function whenAndWhere(at: number, device: string | null): string {
  return `${formatTime(at)}${device === null ? '' : `, ${device}`}`
}
