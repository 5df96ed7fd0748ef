import proxyAddr from '@fastify/proxy-addr'
import { isEmail } from '../../../contract/account-rules.ts'
import {
  choiceVariable,
  emailVariable,
  flagVariable,
  integerVariable,
  listVariable,
  parseInteger,
  textVariable,
  urlVariable,
  variable,
} from './config-reader.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
const POSTGRES = ['postgres:', 'postgresql:']
const SECRET_LENGTH = 32
const DAYS_MAX = 3650
const DAY_SECONDS = 86_400
const DNS_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i
const SMTP = `where mails go: \`smtps://…\` (port 465), or \`smtp://…\` (587), which must offer TLS with a certificate that can be checked, unless it is on this machine or ends in \`?requireTLS=false\`; \`?tls.rejectUnauthorized=false\` takes any certificate, \`?name=\` replaces the host of \`PUBLIC_URL\` in EHLO; \`#\`, \`/\` and \`?\` of a password are written as \`%23\`, \`%2F\`, \`%3F\`; unset: the terminal and \`DATA_DIR/mail\``
const OPERATOR = `who runs the wall, as its pages and refusals name them; \`DATA_DIR/pages/{about,rules,privacy,consent,contacts}.md\` replace the texts that come along`
const FORMER = `the addresses that the wall had before, the last one last, whose proxy leads to \`PUBLIC_URL\`; \`/moved\` shows there what browsers kept ([changing the name](operations.md#changing-the-name))`
const MODERATORS = `who gets a mail, one address or several with commas between them, at the first report of a quiet hour, then one an hour while there is something new`
const REPORTS = `reports by so many people (accounts of different mailboxes, registered from different networks) hide a post until somebody decides; at least 3, or 0 for never`
const JOURNAL = `for how many days addresses of registrations, sign-ins, publications and deletions are kept, where an operator is ordered to ([privacy](privacy.md))`

/** All variables, in the order of docs/configuration.md. */
export const VARIABLES = {
  port: integerVariable(['PORT', 'where it listens'], 3000, [0, 65535]),
  host: textVariable(['HOST', 'the address where it listens'], '127.0.0.1'),
  publicUrl: variable(
    ['PUBLIC_URL', 'the origin people see, where links lead; with https, cookies are Secure'],
    {
      parse: parseOrigin,
      need: 'нужен адрес сайта без пути, например https://vsluh.example',
      fallback: undefined,
      unset: 'http://localhost:PORT',
    },
  ),
  formerUrls: listVariable(
    ['FORMER_URLS', FORMER],
    (url) => parseOrigin(url) === url,
    'нужны прежние адреса сайта через запятую, например https://old.example',
  ),
  hstsSubdomains: flagVariable(
    ['HSTS_SUBDOMAINS', '`on`: an https `PUBLIC_URL` means https for all its subdomains too'],
    ['off', 'on'],
  ),
  appName: textVariable(['APP_NAME', 'the name in titles, headings and mails'], 'Вслух'),
  serviceWorker: flagVariable(
    ['SERVICE_WORKER', '`off` removes it, and all that it stored, from browsers that come back'],
    ['off', 'on'],
    true,
  ),
  dataDir: textVariable(['DATA_DIR', 'all that the embedded default stores'], './data'),
  databaseUrl: urlVariable(
    ['DATABASE_URL', 'a PostgreSQL to use in place of the embedded one'],
    POSTGRES,
  ),
  databaseDirectUrl: urlVariable(
    ['DATABASE_DIRECT_URL', 'the same PostgreSQL, if `DATABASE_URL` leads to a pooler'],
    POSTGRES,
  ),
  appSecret: variable(
    [
      'APP_SECRET',
      `${SECRET_LENGTH} characters or more, the same on all nodes; required with \`DATABASE_URL\` where \`DATA_DIR\` has none`,
    ],
    {
      parse: (value) => (value.length < SECRET_LENGTH ? undefined : value),
      need: `нужно не меньше ${SECRET_LENGTH} символов`,
      fallback: undefined,
      unset: 'stored in `DATA_DIR`',
      isSecret: true,
    },
  ),
  acceptNewSecret: flagVariable(
    [
      'ACCEPT_NEW_SECRET',
      '1, for one start: a new `APP_SECRET` is meant; everybody signs in again',
    ],
    ['0', '1'],
  ),
  smtpUrl: urlVariable(['SMTP_URL', SMTP], ['smtp:', 'smtps:']),
  mailFrom: variable(
    ['MAIL_FROM', 'the address that mails come from; the name beside it is `APP_NAME`'],
    {
      parse: (value) => (isSender(value) ? value : undefined),
      need: 'нужен адрес почты, где перед «@» только латинские буквы, например wall@vsluh.example',
      fallback: undefined,
      unset: 'the login of `SMTP_URL`, or no-reply@ the host of `PUBLIC_URL`',
    },
  ),
  mailsPerHour: integerVariable(
    ['MAILS_PER_HOUR', 'how many mails all nodes together send in an hour'],
    2000,
    [1, 10_000_000],
  ),
  dkimKeyFile: textVariable([
    'DKIM_KEY_FILE',
    'the RSA key (PEM) that signs mails: [mail that arrives](operations.md#mail-that-arrives)',
  ]),
  dkimSelector: variable(['DKIM_SELECTOR', 'the name of that key in the DNS'], {
    parse: (value) => (DNS_NAME.test(value) ? value : undefined),
    need: 'нужно имя в DNS, например wall',
    fallback: undefined,
  }),
  printsMails: flagVariable(
    ['MAIL_MODE', '`print`: no `SMTP_URL` is meant also with https; mails are printed and saved'],
    ['smtp', 'print'],
  ),
  moderatorEmails: listVariable(
    ['MODERATOR_EMAIL', MODERATORS],
    isEmail,
    'нужны адреса почты через запятую, например anna@vsluh.example',
  ),
  // Fewer than three reports must hide nothing: two people could silence anybody.
  reportsToHide: variable(['REPORTS_TO_HIDE', REPORTS], {
    parse: (value) => parseInteger(value, [0, 0]) ?? parseInteger(value, [3, 1_000_000]),
    need: 'нужно 0 (не скрывать) или целое число от 3',
    fallback: 3,
  }),
  removedDays: integerVariable(
    ['REMOVED_DAYS', 'for how many days removed posts can be restored'],
    30,
    [1, DAYS_MAX],
  ),
  trustProxy: listVariable(
    ['TRUST_PROXY', 'CIDRs of proxies whose X-Forwarded-For counts'],
    isNetwork,
    'нужны адреса или сети через запятую, например 10.0.0.0/8',
  ),
  operatorName: textVariable(['OPERATOR_NAME', OPERATOR]),
  contactEmail: emailVariable(['CONTACT_EMAIL', 'where to write to them']),
  accessJournalDays: integerVariable(['ACCESS_JOURNAL_DAYS', JOURNAL], 0, [0, DAYS_MAX]),
  editPeriodSeconds: integerVariable(
    ['EDIT_PERIOD_SECONDS', 'how long a post can be edited'],
    600,
    [1, 1e9],
  ),
  accessTokenSeconds: integerVariable(
    ['ACCESS_TOKEN_SECONDS', 'how long an access token lives'],
    300,
    [1, DAY_SECONDS],
  ),
  codeTtlSeconds: integerVariable(
    ['CODE_TTL_SECONDS', 'how long a code lives from the moment the mail server accepts it'],
    600,
    [1, DAY_SECONDS],
  ),
  rateLimitScale: variable(['RATE_LIMIT_SCALE', 'multiplies every rate limit'], {
    parse: parsePositive,
    need: 'нужно число больше нуля',
    fallback: 1,
  }),
  drainSeconds: integerVariable(
    ['DRAIN_SECONDS', 'how long a stopping server serves on; 5 behind a balancer'],
    0,
    [0, 600],
  ),
  metricsPort: integerVariable(
    ['METRICS_PORT', 'where [metrics](operations.md#watching-it) are served; unset: nowhere'],
    undefined,
    [0, 65535],
  ),
  metricsHost: textVariable(['METRICS_HOST', 'the address where metrics are served'], '127.0.0.1'),
  backupDir: textVariable(['BACKUP_DIR', 'where nightly [backups](operations.md#backup) are kept']),
  backupAt: variable(['BACKUP_AT', 'when they are made (UTC)'], {
    parse: parseTimeOfDay,
    need: 'нужно время, например 03:30',
    fallback: { hour: 3, minute: 30 },
    unset: '03:30',
  }),
  backupKeep: integerVariable(['BACKUP_KEEP', 'how many of them are kept'], 14, [1, 10_000]),
  backupCommand: textVariable([
    'BACKUP_COMMAND',
    'runs after each nightly backup, whose path is `$1`: [elsewhere](operations.md#elsewhere)',
  ]),
  logLevel: choiceVariable(
    ['LOG_LEVEL', 'of the [log](operations.md#watching-it), JSON lines on standard error'],
    LOG_LEVELS,
    'info',
  ),
}

/** Returns whether a mail server without SMTPUTF8 accepts the address as a sender. */
export function isSender(value: string): boolean {
  return isEmail(value) && /^[!-~]+@[^@]+$/.test(value)
}

function parseOrigin(value: string): string | undefined {
  const url = URL.parse(value)
  const isOrigin = url && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
  return isOrigin ? url.origin : undefined
}

function parsePositive(value: string): number | undefined {
  const number = Number(value)
  return Number.isFinite(number) && number > 0 ? number : undefined
}

function parseTimeOfDay(value: string): { hour: number; minute: number } | undefined {
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(value) ?? []
  return hour && minute ? { hour: Number(hour), minute: Number(minute) } : undefined
}

function isNetwork(value: string): boolean {
  try {
    proxyAddr.compile([value])
    return true
  } catch {
    return false
  }
}
