import { createAtom } from '../../platform/atom.ts'

/** The id of a post that was published in a dialog, until the list on the page has focused it. */
export const publishedInDialog = createAtom<string | null>(null)
