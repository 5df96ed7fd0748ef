import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const page = readFileSync(join(import.meta.dirname, '../../docs/privacy.md'), 'utf8')

export function privacySection(heading: string): string {
  return page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
}

export function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}
