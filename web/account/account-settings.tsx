import { LogOut as LogOutShape } from 'lucide'
import { useState } from 'react'
import { PATHS } from '../../contract/pages.ts'
import { plural } from '../format/counts.ts'
import { useEntry } from '../history/entry.tsx'
import { goBack, leave } from '../history/history.ts'
import { pageFlags } from '../platform/flags.ts'
import { localStore } from '../platform/storage.ts'
import { NO_COUNTS_KEY } from '../platform/stored-keys.ts'
import { countUnsentTexts } from '../posts/compose/texts.ts'
import { useAction } from '../session/use-action.tsx'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { Icon } from '../ui/icon.tsx'
import { Row, rowClass } from '../ui/row.tsx'
import { Spinner } from '../ui/states/spinner.tsx'
import { logOut } from './account.queries.ts'
import styles from './account-settings.module.css'

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

type LogOutProps = { userId: string; onLoggedOut: () => void }

/** Asks for confirmation if logging out would delete unsent texts. */
export function LogOut({ userId, onLoggedOut }: LogOutProps) {
  const [lost, setLost] = useState(0)
  const leaving = useAction({ mutationFn: logOut, onSuccess: onLoggedOut, errors: 'toast' })

  function ask(): void {
    const unsent = countUnsentTexts(userId)
    setLost(unsent)
    if (unsent === 0) leaving.mutate()
  }

  return (
    <>
      <button type="button" className={rowClass} aria-busy={leaving.isPending} onClick={ask}>
        <Row
          icon={leaving.isPending ? <Spinner size={20} /> : <Icon shape={LogOutShape} size={20} />}
          name="Выйти"
        />
      </button>
      <div role="alert">
        {lost > 0 && (
          <div className={classes('wrap', styles.lost)}>
            <p>
              {lost} {plural(lost, UNSENT)} {plural(lost, LOST)}.
            </p>
            <Button size="s" onClick={() => setLost(0)}>
              Остаться
            </Button>
            <Button size="s" variant="danger" onClick={() => leaving.mutate()}>
              Выйти всё равно
            </Button>
          </div>
        )}
      </div>
    </>
  )
}

const UNSENT = {
  one: 'неотправленный текст',
  few: 'неотправленных текста',
  many: 'неотправленных текстов',
}
const LOST = { one: 'пропадёт', few: 'пропадут', many: 'пропадут' }

/** Returns a function that goes back to the settings, so that «Назад» there does not lead here. */
export function useReturnToSettings(): () => void {
  const { pathname, from } = useEntry()

  return () => {
    if (from !== PATHS.settings) leave(pathname, PATHS.settings)
    else if (location.pathname === pathname) goBack(PATHS.settings)
  }
}
