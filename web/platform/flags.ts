import type { PageFlags } from '../../contract/page-flags.ts'

/** The data attributes of <html>, to read, set and delete. */
export function pageFlags(): PageFlags {
  return document.documentElement.dataset as PageFlags
}
