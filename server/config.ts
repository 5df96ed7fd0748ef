import { resolve } from 'node:path'
import proxyAddr from '@fastify/proxy-addr'
import { isEmail } from '../contract/email.ts'
import { StartError } from './start/start-failure.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** The configuration from the environment, read once at start. Durations are in seconds. */
export type Config = {
  port: number
  host: string
  /** The origin people see, without a trailing slash; undefined when PUBLIC_URL is unset. */
  publicUrl: string | undefined
  /** Whether browsers should use https for the subdomains of an https PUBLIC_URL too. */
  hstsSubdomains: boolean
  appName: string
  dataDir: string
  databaseUrl: string | undefined
  appSecret: string | undefined
  /** Whether an APP_SECRET that differs from the one the database knows is accepted. */
  acceptNewSecret: boolean
  smtpUrl: string | undefined
  mailFrom: string
  trustProxy: string[]
  editPeriodSeconds: number
  accessTokenSeconds: number
  codeTtlSeconds: number
  rateLimitScale: number
  logLevel: LogLevel
}

/** Thrown for an environment variable with a value that the product cannot run with; the message names the variable. */
export class ConfigError extends StartError {}

/**
 * Reads the configuration from environment variables (docs: README, “Variables”). An empty value counts as unset.
 * Throws ConfigError, which names the first variable that is wrong.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const read = reader(env)
  const databaseUrl = read.url('DATABASE_URL', ['postgres:', 'postgresql:'])
  const publicUrl = read.origin('PUBLIC_URL')
  const appSecret = read.text('APP_SECRET')
  if (appSecret !== undefined && appSecret.length < 32) {
    throw new ConfigError('APP_SECRET: нужно не меньше 32 символов')
  }
  if (databaseUrl !== undefined && appSecret === undefined) {
    throw new ConfigError('APP_SECRET: обязателен вместе с DATABASE_URL и общий для всех узлов')
  }
  return {
    port: read.integer('PORT', { fallback: 3000, min: 0, max: 65535 }),
    host: read.text('HOST') ?? '127.0.0.1',
    publicUrl,
    hstsSubdomains: read.oneOf('HSTS_SUBDOMAINS', ['on', 'off'], 'off') === 'on',
    appName: read.text('APP_NAME') ?? 'Вслух',
    dataDir: resolve(read.text('DATA_DIR') ?? './data'),
    databaseUrl,
    appSecret,
    acceptNewSecret: read.oneOf('ACCEPT_NEW_SECRET', ['0', '1'], '0') === '1',
    smtpUrl: read.url('SMTP_URL', ['smtp:', 'smtps:']),
    mailFrom:
      read.email('MAIL_FROM') ??
      `no-reply@${publicUrl ? new URL(publicUrl).hostname : 'localhost'}`,
    trustProxy: read.networks('TRUST_PROXY'),
    editPeriodSeconds: read.integer('EDIT_PERIOD_SECONDS', { fallback: 600, min: 1, max: 1e9 }),
    accessTokenSeconds: read.integer('ACCESS_TOKEN_SECONDS', {
      fallback: 300,
      min: 1,
      max: 86_400,
    }),
    codeTtlSeconds: read.integer('CODE_TTL_SECONDS', { fallback: 600, min: 1, max: 86_400 }),
    rateLimitScale: read.positive('RATE_LIMIT_SCALE', 1),
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
  }
}

type Range = { fallback: number; min: number; max: number }

function reader(env: NodeJS.ProcessEnv) {
  const text = (name: string) => env[name]?.trim() || undefined
  return {
    text,
    integer(name: string, { fallback, min, max }: Range): number {
      const value = text(name)
      if (value === undefined) return fallback
      const number = Number(value)
      if (/^\d+$/.test(value) && number >= min && number <= max) return number
      throw wrong(name, value, `нужно целое число от ${min} до ${max}`)
    },
    positive(name: string, fallback: number): number {
      const value = text(name)
      if (value === undefined) return fallback
      const number = Number(value)
      if (Number.isFinite(number) && number > 0) return number
      throw wrong(name, value, 'нужно число больше нуля')
    },
    oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
      const value = text(name)
      if (value === undefined) return fallback
      const found = allowed.find((one) => one === value)
      if (found !== undefined) return found
      throw wrong(name, value, `нужно одно из: ${allowed.join(', ')}`)
    },
    /** The message does not quote the value, which may contain a password. */
    url(name: string, protocols: string[]): string | undefined {
      const value = text(name)
      if (value === undefined) return undefined
      if (protocols.includes(URL.parse(value)?.protocol ?? '')) return value
      throw new ConfigError(`${name}: нужен адрес вида ${protocols[0]}//…`)
    },
    origin(name: string): string | undefined {
      const value = text(name)
      if (value === undefined) return undefined
      const url = URL.parse(value)
      if (url && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href) return url.origin
      throw wrong(name, value, 'нужен адрес сайта без пути, например https://vsluh.example')
    },
    /** An address without a name: the sender's name is APP_NAME. */
    email(name: string): string | undefined {
      const value = text(name)
      if (value === undefined || isEmail(value)) return value
      throw wrong(name, value, 'нужен адрес почты, например wall@vsluh.example')
    },
    networks(name: string): string[] {
      const networks = (text(name) ?? '').split(',').map((part) => part.trim())
      for (const network of networks) {
        if (network && !isNetwork(network)) {
          throw wrong(name, network, 'нужны адреса или сети через запятую, например 10.0.0.0/8')
        }
      }
      return networks.filter(Boolean)
    },
  }
}

/** Whether the library by which the server trusts proxies accepts an address or a network. */
function isNetwork(value: string): boolean {
  try {
    proxyAddr.compile([value])
    return true
  } catch {
    return false
  }
}

function wrong(name: string, value: string, need: string): ConfigError {
  return new ConfigError(`${name}: ${need}, а задано «${value}»`)
}
