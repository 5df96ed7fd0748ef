import type { PageFlags } from '../../contract/page-flags.ts'

export function pageFlags(): PageFlags {
  return document.documentElement.dataset as PageFlags
}
