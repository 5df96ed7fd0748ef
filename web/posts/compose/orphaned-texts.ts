import { openDialog, openedDialog } from '../../history/history.ts'
import { settings } from '../../platform/page-settings.ts'
import { toast } from '../../ui/overlay/toaster.tsx'
import { readPost } from '../cache/posts.queries.ts'
import { addToDraft } from './open-text.ts'
import { parseTarget, type Text } from './stored-texts.ts'
import { change, isDraft, remove, texts } from './texts.ts'
import { writtenOf } from './written.ts'

const DAY_MS = 86_400_000

/**
 * Moves the viewer's drafts about deleted posts to the draft of a new post, and removes drafts of
 * edits a day after the edit period. Reads the post of a draft once a day. Throws CallError.
 */
export async function checkDrafts(userId: string): Promise<void> {
  for (const draft of texts.get().filter((it) => it.by === userId && isDraft(it))) {
    const { kind, postId } = parseTarget(draft.target)
    const age = Date.now() - draft.at
    const isReadToday = Date.now() - (draft.checkedAt ?? 0) < DAY_MS
    if (kind === 'edit' && age > DAY_MS + settings().editPeriodSeconds * 1000) remove(draft)
    else if (kind === 'new' || kind === 'appeal' || isReadToday) continue
    else if ((await readPost(postId)) !== null) change(draft, { checkedAt: Date.now() })
    else {
      const now = texts.get().find(({ id }) => id === draft.id)
      // An open form would overwrite the draft.
      if (now && isDraft(now) && openedDialog.get() === null) continueAsNewPost(now)
    }
  }
}

/** Moves a text, which no page can open any more, to the draft of a new post. */
export function continueAsNewPost(orphan: Text): void {
  addToDraft({ by: orphan.by, target: 'new' }, writtenOf(orphan))
  remove(orphan)
  const link = { label: 'Открыть', onSelect: () => openDialog({ name: 'new-post' }) }
  toast({ text: 'Запись удалена. Ваш текст\u00a0— в\u00a0черновике', link })
}
