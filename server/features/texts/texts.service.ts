import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { micromark } from 'micromark'
import { TEXT_NAMES } from '../../../contract/constants.ts'
import { readText, type SiteText, type TextName } from '../../../contract/texts.ts'
import type { Config } from '../../kernel/config/config.ts'
import { readIfExists } from '../../kernel/config/read-if-exists.ts'
import { whyFailed } from '../../kernel/errors/why-failed.ts'
import type { ServerContext } from '../../kernel/server-context.ts'

const TEMPLATES = join(import.meta.dirname, 'templates')
const MAX_AGE_MS = 2000
const FIELD = /\{\{(\w+)\}\}/g
const FIELDS = new Map<string, (facts: Facts) => string>([
  ['APP_NAME', ({ appName }) => appName],
  ['OPERATOR_NAME', ({ operatorName }) => operatorName ?? 'владелец сайта'],
  ['CONTACT_EMAIL', ({ contactEmail }) => contactEmail ?? 'адрес ещё не указан'],
  ['SITE', ({ origin }) => new URL(origin).host],
  ['REMOVED_DAYS', ({ removedDays }) => String(removedDays)],
  ['ADDRESSES', ({ accessJournalDays: days }) => (days > 0 ? addressesLine(days) : '')],
])
const HEADING = /^#\s+(.+?)\s*(?:\n|$)/

type Facts = Pick<
  Config,
  'appName' | 'operatorName' | 'contactEmail' | 'removedDays' | 'accessJournalDays'
> & { origin: string }

/** `folder` has the operator's own texts, which replace the templates. */
type Options = Facts & { folder: string }

export type ReadText = (name: TextName) => Promise<SiteText>

export function createTexts({ folder, ...facts }: Options): ReadText {
  const texts = new LRUCache<TextName, SiteText>({
    max: 8,
    ttl: MAX_AGE_MS,
    async fetchMethod(name) {
      const file = `${name}.md`
      const own = await readIfExists(join(folder, file))
      return toText(own ?? (await readFile(join(TEMPLATES, file), 'utf8')), facts)
    },
  })
  return (name) => texts.forceFetch(name)
}

/** States in Russian which of the operator's own texts are unreadable or name an unknown field. */
export async function findTextFaults(folder: string): Promise<string[]> {
  const files = TEXT_NAMES.map(async (name) => {
    try {
      const text = (await readIfExists(join(folder, `${name}.md`))) ?? ''
      const unknown = [...text.matchAll(FIELD)].filter(([, field = '']) => !FIELDS.has(field))
      return unknown.map(([field]) => `${name}.md: поля ${field} нет`)
    } catch (error) {
      return [`${name}.md не читается: ${whyFailed(error)}`]
    }
  })
  return (await Promise.all(files)).flat()
}

export function registerTexts({ route }: ServerContext, options: Options): ReadText {
  const read = createTexts(options)
  route(readText, ({ params }) => read(params.name))
  return read
}

function toText(markdown: string, facts: Facts): SiteText {
  const filled = fillIn(markdown.replaceAll('\r\n', '\n').trim(), facts)
  const title = HEADING.exec(filled)?.[1] ?? facts.appName
  // In Russian no line begins with a dash, so it stays with the word before it.
  const html = micromark(filled.replace(HEADING, '')).replaceAll(' — ', '\u00a0— ')
  return { title, html }
}

function addressesLine(days: number): string {
  return `- **Сетевой адрес и порт** — при регистрации, входе, публикации и удалении, потому что этого требует закон. Хранятся (дней): ${days}, в том числе после удаления аккаунта.\n`
}

function fillIn(markdown: string, facts: Facts): string {
  const { contactEmail } = facts
  return markdown
    .replace(/(?<!mailto:|<)\{\{CONTACT_EMAIL\}\}/g, (it) =>
      contactEmail ? `<${contactEmail}>` : it,
    )
    .replace(FIELD, (all, name: string) => FIELDS.get(name)?.(facts) ?? all)
}
