import type { PageFlags } from '../../contract/page-flags.ts'

/** Returns the data attributes of <html>, to read, set and delete. */
export function pageFlags(): PageFlags {
  return document.documentElement.dataset as PageFlags
}
