import proxyAddr from '@fastify/proxy-addr'
import { isEmail } from '../../../contract/account-rules.ts'
import { StartError } from '../errors/start-error.ts'

/** Names a variable whose value the product cannot run with. */
export class ConfigError extends StartError {}

type Range = { fallback: number; min: number; max: number }

/**
 * Each function returns the fallback for an unset variable. Throws ConfigError for a wrong value.
 */
export function reader(env: NodeJS.ProcessEnv) {
  const names = new Set<string>()
  const text = (name: string) => {
    names.add(name)
    return env[name]?.trim() || undefined
  }

  function read<T>(name: string, need: string, parse: (value: string) => T | undefined) {
    const value = text(name)
    if (value === undefined) return undefined
    const parsed = parse(value)
    if (parsed === undefined) throw wrong(name, value, need)
    return parsed
  }

  return {
    names,
    text,
    integer(name: string, { fallback, min, max }: Range): number {
      const parse = (value: string) => {
        const number = Number(value)
        return /^\d+$/.test(value) && number >= min && number <= max ? number : undefined
      }
      return read(name, `нужно целое число от ${min} до ${max}`, parse) ?? fallback
    },
    positive(name: string, fallback: number): number {
      const parse = (value: string) => {
        const number = Number(value)
        return Number.isFinite(number) && number > 0 ? number : undefined
      }
      return read(name, 'нужно число больше нуля', parse) ?? fallback
    },
    oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
      const parse = (value: string) => allowed.find((one) => one === value)
      return read(name, `нужно одно из: ${allowed.join(', ')}`, parse) ?? fallback
    },
    /** The message does not quote the value, which may contain a password. */
    url(name: string, protocols: string[]): string | undefined {
      const value = text(name)
      if (value === undefined || protocols.includes(URL.parse(value)?.protocol ?? '')) return value
      throw new ConfigError(`${name}: нужен адрес вида ${protocols[0]}//…`)
    },
    origin(name: string): string | undefined {
      return read(name, 'нужен адрес сайта без пути, например https://vsluh.example', (value) => {
        const url = URL.parse(value)
        const isOrigin = url && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
        return isOrigin ? url.origin : undefined
      })
    },
    email(name: string): string | undefined {
      const parse = (value: string) => (isEmail(value) ? value : undefined)
      return read(name, 'нужен адрес почты, например wall@vsluh.example', parse)
    },
    emails(name: string): string[] {
      const emails = (text(name) ?? '').split(',').map((part) => part.trim())
      const invalid = emails.find((email) => email && !isEmail(email))
      if (invalid === undefined) return [...new Set(emails.filter(Boolean))]
      throw wrong(name, invalid, 'нужны адреса почты через запятую, например anna@vsluh.example')
    },
    timeOfDay(name: string, fallback: { hour: number; minute: number }) {
      const parse = (value: string) => {
        const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(value) ?? []
        return hour && minute ? { hour: Number(hour), minute: Number(minute) } : undefined
      }
      return read(name, 'нужно время, например 03:30', parse) ?? fallback
    },
    networks(name: string): string[] {
      const networks = (text(name) ?? '').split(',').map((part) => part.trim())
      const invalid = networks.find((network) => network && !isNetwork(network))
      if (invalid === undefined) return networks.filter(Boolean)
      throw wrong(name, invalid, 'нужны адреса или сети через запятую, например 10.0.0.0/8')
    },
  }
}

/** Whether the library by which the server trusts proxies accepts it. */
function isNetwork(value: string): boolean {
  try {
    proxyAddr.compile([value])
    return true
  } catch {
    return false
  }
}

export function wrong(name: string, value: string, need: string): ConfigError {
  return new ConfigError(`${name}: ${need}, а задано «${value}»`)
}
