import { useState } from 'react'
import { localStore } from '../platform/storage.ts'
import { NO_COUNTS_KEY } from '../platform/stored-keys.ts'
import { Checkbox } from '../ui/checkbox.tsx'
import { rowClass } from '../ui/row.tsx'

/** Whether this browser shows how many liked and replied. */
export function ShownCounts() {
  const [areHidden, setAreHidden] = useState(() => localStore.read(NO_COUNTS_KEY) !== null)

  function hide(next: boolean): void {
    if (next) localStore.write(NO_COUNTS_KEY, 'yes')
    else localStore.remove(NO_COUNTS_KEY)
    document.documentElement.toggleAttribute('data-no-counts', next)
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
