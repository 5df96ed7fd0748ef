import { type FormEvent, useEffect, useRef } from 'react'
import { SEARCH_MAX } from '../../contract/constants.ts'
import { PATHS, SEARCH_PARAM, searchPath } from '../../contract/pages.ts'
import { useEntry } from '../history/entry.tsx'
import { navigate } from '../history/history.ts'
import { focusContent } from '../history/link.tsx'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import styles from './search-form.module.css'

/** Renders a plain form, which works without scripts. */
export function SearchForm({ q }: { q: string }) {
  const { key, isReturn } = useEntry()
  const input = useRef<HTMLInputElement>(null)
  const shown = useRef(key)

  // The input stays mounted, and keeps its focus, from one search to the next.
  useEffect(() => {
    if (!input.current) return
    if (shown.current !== key) input.current.value = q
    shown.current = key
    if (q === '' && !isReturn) input.current.focus()
  }, [key, q, isReturn])

  function search(event: FormEvent): void {
    event.preventDefault()
    const asked = input.current?.value.trim() ?? ''
    // Closes the on-screen keyboard, which would cover the results.
    if (asked !== '') focusContent()
    else input.current?.focus({ preventScroll: true })
    if (asked !== '') navigate(searchPath(asked))
  }

  return (
    <search>
      <form
        className={classes('line band below-desktop', styles.form)}
        action={PATHS.search}
        onSubmit={search}
      >
        <input
          ref={input}
          className="input"
          type="search"
          name={SEARCH_PARAM}
          defaultValue={q}
          maxLength={SEARCH_MAX}
          enterKeyHint="search"
          autoComplete="off"
          aria-label="Слова из записи или ответа"
          placeholder="Слово или фраза"
        />
        <Button type="submit" variant="quiet">
          Найти
        </Button>
      </form>
    </search>
  )
}
