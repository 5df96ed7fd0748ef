import { LogOut as LogOutShape } from 'lucide'
import { useState } from 'react'
import { PATHS } from '../../contract/pages.ts'
import { plural } from '../format/counts.ts'
import { useEntry } from '../history/entry.tsx'
import { goBack, leave } from '../history/history.ts'
import { pageFlags } from '../platform/flags.ts'
import { localStore } from '../platform/storage.ts'
import { NO_COUNTS_KEY } from '../platform/stored-keys.ts'
import { useHidden } from '../posts/cache/hidden.ts'
import { countUnsentTexts } from '../posts/compose/texts.ts'
import { useAction } from '../session/use-action.tsx'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { Icon } from '../ui/icon.tsx'
import { liveRegion } from '../ui/live-region.ts'
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

/** Asks for confirmation if logging out would delete unsent texts or hidden words. */
export function LogOut({ userId, onLoggedOut }: LogOutProps) {
  const [lost, setLost] = useState('')
  const { words } = useHidden()
  const leaving = useAction({ mutationFn: logOut, onSuccess: onLoggedOut, errors: 'toast' })

  function ask(): void {
    const sentence = lossOf(countUnsentTexts(userId), words.length)
    setLost(sentence)
    if (sentence === '') leaving.mutate()
  }

  return (
    <>
      <button type="button" className={rowClass} aria-busy={leaving.isPending} onClick={ask}>
        <Row
          icon={leaving.isPending ? <Spinner size={20} /> : <Icon shape={LogOutShape} size={20} />}
          name="Выйти"
        />
      </button>
      <div {...liveRegion(lost !== '', 'alert')}>
        {lost && (
          <div className={classes('wrap', styles.lost)}>
            <p>{lost}</p>
            <Button size="s" onClick={() => setLost('')}>
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
const WORDS = { one: 'скрытое слово', few: 'скрытых слова', many: 'скрытых слов' }
const LOST = { one: 'пропадёт', few: 'пропадут', many: 'пропадут' }

/** Returns a sentence such as «2 неотправленных текста и 1 скрытое слово пропадут.», or ''. */
function lossOf(texts: number, words: number): string {
  const parts = [
    ...(texts > 0 ? [`${texts} ${plural(texts, UNSENT)}`] : []),
    ...(words > 0 ? [`${words} ${plural(words, WORDS)}`] : []),
  ]
  if (parts.length === 0) return ''
  return `${parts.join(' и ')} ${parts.length > 1 ? LOST.many : plural(texts + words, LOST)}.`
}

/** Returns a function that goes back to the settings, so that «Назад» there does not lead here. */
export function useReturnToSettings(): () => void {
  const { pathname, from } = useEntry()

  return () => {
    if (from !== PATHS.settings) leave(pathname, PATHS.settings)
    else if (location.pathname === pathname) goBack(PATHS.settings)
  }
}
