import { PATHS } from '../../contract/pages.ts'
import { openDialog, replacePage } from '../history/history.ts'
import { offeredText } from '../posts/compose/offered-text.tsx'
import { dropIntent, intentToResume, keepIntent, withViewer } from '../session/intents.ts'
import { knownViewer } from '../session/viewer.ts'

/** Opens a new post with the text that a phone shares in the query (see manifest.webmanifest). */
export async function takeShared(): Promise<void> {
  const given = new URLSearchParams(location.search)
  const parts = ['title', 'text', 'url'].map((name) => given.get(name)?.trim() ?? '')
  const text = parts
    .filter(
      (part, at) =>
        part !== '' &&
        !parts.some((it, n) => n !== at && it.includes(part) && (it !== part || n < at)),
    )
    .join('\n')
  replacePage(PATHS.wall)
  const intent = { name: 'new-post', text } as const
  // A stored intent survives a reload and signing in.
  keepIntent(intent)
  await knownViewer()
  if (intentToResume()?.name !== 'new-post') return
  dropIntent()
  await withViewer(intent)
}

/** Opens a new post that offers a text, or begins with it if the viewer has no draft. */
export function writeShared(text = ''): void {
  offeredText.write(text)
  openDialog({ name: 'new-post' })
}
