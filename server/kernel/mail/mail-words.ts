import { formatTime } from '../../../contract/dates.ts'
import type { Device } from '../../../contract/fields.ts'
import { type Config, originOf } from '../config/config.ts'

export type MailOptions = {
  appName: string
  origin: string
}

export type NoticeOptions = MailOptions & { contact: string | undefined }

export function mailWords(config: Config): NoticeOptions {
  return { appName: config.appName, origin: originOf(config), contact: config.contactEmail }
}

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

/** Names only known browsers and systems: a stranger who asks for a code chooses what to send. */
export function nameDevice(device: Device | null): string | null {
  if (device === null) return null
  const browser = BROWSERS.find((name) => device.userAgent === name)
  const system = SYSTEMS.find((name) => `${device.os} `.startsWith(`${name} `))
  return [browser, system].filter(Boolean).join(', ') || null
}

/** Such as «21 ноября в 10:00 по Москве, Firefox, Linux». */
export function whenAndWhere(at: number, device: string | null): string {
  return `${formatTime(at)}${device === null ? '' : `, ${device}`}`
}
