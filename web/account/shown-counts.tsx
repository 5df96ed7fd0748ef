import { useState } from 'react'
import { pageFlags } from '../platform/flags.ts'
import { localStore } from '../platform/storage.ts'
import { NO_COUNTS_KEY } from '../session/stored-keys.ts'
import { Checkbox } from '../ui/checkbox.tsx'
import { rowClass } from '../ui/row.tsx'

/** The setting whether this browser shows the counts of likes and replies. */
export function ShownCounts() {
  const [areHidden, setAreHidden] = useState(() => localStore.read(NO_COUNTS_KEY) !== null)

  function hide(next: boolean): void {
    if (next) localStore.write(NO_COUNTS_KEY, 'yes')
    else localStore.remove(NO_COUNTS_KEY)
    if (next) pageFlags().noCounts = ''
    else delete pageFlags().noCounts
    setAreHidden(next)
  }

  return (
    <div className={rowClass}>
      <Checkbox
        label="Не показывать числа отметок и ответов в этом браузере"
        checked={areHidden}
        onChange={hide}
      />
    </div>
  )
}
