import { openDialog, openedDialog } from '../../history/history.ts'
import { localStore } from '../../platform/storage.ts'
import { toast } from '../../ui/overlay/toaster.tsx'
import { readPost } from '../cache/posts.queries.ts'
import { appendToDraft, type Draft, OWN_TEXT, openDraft } from './drafts.ts'
import { draftPrefix } from './stored-drafts.ts'

/** Moves the viewer's drafts of replies to deleted posts and of their edits. Throws CallError. */
export async function moveOrphanedTexts(userId: string): Promise<void> {
  for (const kind of ['reply', 'edit'] as const) {
    const prefix = draftPrefix(userId, kind)
    const ids = localStore.keys(prefix).map((name) => name.slice(prefix.length).split(' ')[0] ?? '')
    for (const id of new Set(ids)) {
      const isOrphaned = (await readPost(id)) === null
      // An open form would overwrite the draft.
      const isFree = openedDialog.get() === null
      if (isOrphaned && isFree) moveToNewPost(openDraft(localStore, userId, `${kind} ${id}`))
    }
  }
}

/** Moves a text, which no page can open any more, to the draft of a new post. */
export function moveToNewPost(orphan: Draft): void {
  const written = orphan.read()
  if (written === null) return
  appendToDraft(openDraft(localStore, orphan.userId, 'new'), written)
  orphan.clear()
  const link = { label: 'Открыть', onSelect: () => openDialog({ name: 'new-post' }) }
  toast({ text: 'Запись удалена. Ваш текст\u00a0— в\u00a0черновике', link }, { about: [OWN_TEXT] })
}
