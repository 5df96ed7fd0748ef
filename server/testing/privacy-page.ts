import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const page = readFileSync(join(import.meta.dirname, '../../docs/privacy.md'), 'utf8')

/** Returns a section of the page about personal data by its heading. */
export function privacySection(heading: string): string {
  return page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
}

/** Returns the words between backticks. */
export function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}
