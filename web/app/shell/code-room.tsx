import { openedDialog } from '../../history/history.ts'
import { useAtom } from '../../platform/atom.ts'
import { pageFlags } from '../../platform/flags.ts'
import { createLazyChunk } from '../../platform/lazy-chunk.ts'
import { Lazy } from '../../ui/lazy.tsx'
import styles from './app-shell.module.css'

const codeLine = createLazyChunk(() => import('../../sign-in/code-line.tsx'), 'CodeLine')
/** The sign-in dialog changes the flag. */
const codeSent = { get: () => 'codeSent' in pageFlags(), subscribe: openedDialog.subscribe }

/** The line on a code that waits to be typed, with its height before its chunk is there. */
export function CodeRoom() {
  const isSent = useAtom(codeSent, false)
  return (
    <div className={styles.code}>
      {isSent && (
        <Lazy chunk={codeLine} loading={null}>
          {(CodeLine) => <CodeLine />}
        </Lazy>
      )}
    </div>
  )
}
