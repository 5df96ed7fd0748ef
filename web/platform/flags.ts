import type { PageFlags } from '../../contract/page-flags.ts'

/** The attributes of <html>, to be read, set and deleted by their names. */
export function pageFlags(): PageFlags {
  return document.documentElement.dataset as PageFlags
}
