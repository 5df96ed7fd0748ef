import { domainToUnicode } from 'node:url'
import { firstCharacters } from '../contract/post-rules.ts'
import { formatOperatorTime } from '../server/kernel/errors/words.ts'

/** Returns a text with the domain at its end, also that of an address, in Unicode. */
export function withDomainInUnicode(text: string): string {
  return text.replace(/[^@]*xn--[^@]*$/, domainToUnicode)
}

export function untilText(until: Date | null): string {
  return until ? `до ${formatOperatorTime(until)}` : 'бессрочно'
}

/** The most entries of a long list that one page shows. */
export const ENTRIES_PER_PAGE = 25

const FIRST_LINE_MAX = 60

/** Returns the first line, cut to 60 characters. Ends in `…` if text is left out. */
export function firstLine(text: string): string {
  const [line = ''] = text.split('\n')
  const characters = firstCharacters(line, FIRST_LINE_MAX + 1)
  if (characters.length > FIRST_LINE_MAX) return `${characters.slice(0, -2).join('')}…`
  return line === text ? line : `${line} …`
}

export function indentLines(text: string): string[] {
  return text.split('\n').map((line) => `    ${line}`)
}

/** Removes control characters except line feeds: people write them, and a terminal obeys them. */
export function printable(text: string): string {
  return text.replace(/(?!\n)\p{Cc}/gu, '')
}

export const POSTS = { one: 'запись', few: 'записи', many: 'записей' }
export const REPORTS = { one: 'жалоба', few: 'жалобы', many: 'жалоб' }
export const APPEALS = { one: 'обжалование', few: 'обжалования', many: 'обжалований' }
export const OF_PEOPLE = { one: 'человека', few: 'человек', many: 'человек' }
export const ACCOUNTS = { one: 'аккаунт', few: 'аккаунта', many: 'аккаунтов' }
