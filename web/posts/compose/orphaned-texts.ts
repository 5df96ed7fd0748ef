import { openDialog, openedDialog } from '../../history/history.ts'
import { toast } from '../../ui/overlay/toaster.tsx'
import { readPost } from '../cache/posts.queries.ts'
import { addToDraft } from './open-text.ts'
import { parseTarget, type Text } from './stored-texts.ts'
import { isDraft, remove, texts } from './texts.ts'
import { OWN_TEXT, writtenOf } from './written.ts'

/** Moves the viewer's drafts about deleted posts to the draft of a new post. Throws CallError. */
export async function checkDrafts(userId: string): Promise<void> {
  for (const draft of texts.get().filter((it) => it.by === userId && isDraft(it))) {
    const { kind, postId } = parseTarget(draft.target)
    if (kind !== 'edit' && kind !== 'reply') continue
    const isOrphaned = (await readPost(postId)) === null
    const now = texts.get().find(({ id }) => id === draft.id)
    // An open form would overwrite the draft.
    if (isOrphaned && now && isDraft(now) && openedDialog.get() === null) moveToNewPost(now)
  }
}

/** Moves a text, which no page can open any more, to the draft of a new post. */
export function moveToNewPost(orphan: Text): void {
  addToDraft({ by: orphan.by, target: 'new' }, writtenOf(orphan))
  remove(orphan)
  const link = { label: 'Открыть', onSelect: () => openDialog({ name: 'new-post' }) }
  toast({ text: 'Запись удалена. Ваш текст\u00a0— в\u00a0черновике', link }, { about: [OWN_TEXT] })
}
