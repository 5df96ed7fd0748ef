import { useEffect } from 'react'
import { whenDialogIsClosed } from '../history/history.ts'
import { useAtom } from '../platform/atom.ts'
import { publishedInDialog } from '../posts/cache/published.ts'
import { articleOf } from './articles.ts'

/** Moves the focus to a post that was just published in a dialog, if the list has it. Does not scroll. */
export function useFocusPublished(ids: readonly string[]): void {
  const id = useAtom(publishedInDialog)
  // A list that is opened later must not take the focus.
  useEffect(() => publishedInDialog.set(null), [])
  useEffect(() => {
    if (id === null || !ids.includes(id)) return
    publishedInDialog.set(null)
    // By then the dialog has given the focus back.
    whenDialogIsClosed(() => articleOf(id)?.focus({ preventScroll: true }))
  }, [id, ids])
}
