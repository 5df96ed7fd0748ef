import { openedDialog } from '../../history/history.ts'
import { useAtom } from '../../platform/atom.ts'
import { pageFlags } from '../../platform/flags.ts'
import { createLazyChunk } from '../../platform/lazy-chunk.ts'
import { Lazy } from '../../ui/lazy.tsx'
import styles from './app-shell.module.css'

const codeLine = createLazyChunk(() => import('../../sign-in/code-line.tsx'), 'CodeLine')
/** Read again when a dialog opens or closes, because the sign-in dialog changes the flag. */
const codeSent = { get: () => 'codeSent' in pageFlags(), subscribe: openedDialog.subscribe }

/** The line about a mailed code. Reserves its height while its chunk loads. */
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
