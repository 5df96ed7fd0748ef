import { openedDialog } from '../history/history.ts'
import { useAtom } from '../platform/atom.ts'
import { createLazyChunk } from '../platform/lazy-chunk.ts'
import { withViewer } from '../session/intents.ts'
import { useLastUser, useViewer } from '../session/viewer.ts'
import { classes } from '../ui/classes.ts'
import { Lazy } from '../ui/states/lazy.tsx'
import styles from './reply-row.module.css'

export const replyField = createLazyChunk(() => import('./reply-field.tsx'), 'ReplyField')

/** Shows the reply field on the page of a post. Keeps its height until the viewer is known. */
export function ReplyRow({ postId, isFirst }: { postId: string; isFirst: boolean }) {
  const viewer = useViewer()
  const user = useLastUser()
  const dialog = useAtom(openedDialog, null)
  const isInDialog = dialog?.name === 'reply' && dialog.postId === postId
  const signIn = (
    <button
      type="button"
      className={classes('act', styles.signIn)}
      onClick={() => void withViewer({ name: 'reply', postId })}
    >
      Войдите, чтобы ответить
    </button>
  )
  return (
    <div className={classes('unprinted', styles.row)}>
      {viewer.state === 'signed-out' && !user && signIn}
      {/* The dialog edits the same draft, so the field mounts again with the text typed there. */}
      {user && !isInDialog && (
        <Lazy
          key={user.id}
          chunk={replyField}
          props={{
            postId,
            username: user.username,
            placeholder: isFirst ? 'Ответьте первым' : 'Ваш ответ',
            signIn,
          }}
        />
      )}
    </div>
  )
}
