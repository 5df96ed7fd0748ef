import { domainToUnicode } from 'node:url'
import { formatTime } from '../../../contract/dates.ts'
import type { Device } from '../../../contract/fields.ts'
import { type Config, originOf } from '../config/config.ts'
import { unicodeEmail } from './email-address.ts'

export type MailOptions = {
  appName: string
  origin: string
}

export type NoticeOptions = MailOptions & { contact: string | undefined }

export function noticeOptions(config: Config): NoticeOptions {
  const { appName, contactEmail } = config
  const contact = contactEmail && (unicodeEmail(contactEmail) || contactEmail)
  return { appName, origin: originOf(config), contact }
}

/** Returns an origin as people write it, such as «https://стена.рф:8443». */
export function readableOrigin(origin: string): string {
  const { protocol } = new URL(origin)
  return `${protocol}//${readableHost(origin)}`
}

/** Returns the host of an origin as people write it, with the port unless it is the usual one. */
export function readableHost(origin: string): string {
  const { hostname, port } = new URL(origin)
  return `${domainToUnicode(hostname)}${port && `:${port}`}`
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
