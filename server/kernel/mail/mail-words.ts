import { formatTime } from '../../../contract/dates.ts'
import type { Device } from '../../../contract/fields.ts'
import { type Config, originOf } from '../config/config.ts'

export type MailOptions = {
  appName: string
  origin: string
}

export type NoticeOptions = MailOptions & { contact: string | undefined }

export function noticeOptions(config: Config): NoticeOptions {
  return { appName: config.appName, origin: originOf(config), contact: config.contactEmail }
}

/** Browsers by the names that the library bowser gives them in the web app. */
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

/** Names only known browsers and systems, because a stranger chooses what the request contains. */
export function nameDevice(device: Device | null): string | null {
  if (device === null) return null
  const browser = BROWSERS.find((name) => device.userAgent === name)
  const system = SYSTEMS.find((name) => `${device.os} `.startsWith(`${name} `))
  return [browser, system].filter(Boolean).join(', ') || null
}

/** Returns a text such as «21 ноября в 10:00 по Москве, Firefox, Linux». */
export function whenAndWhere(at: number, device: string | null): string {
  return `${formatTime(at)}${device === null ? '' : `, ${device}`}`
}
