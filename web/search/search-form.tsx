import { type FormEvent, type ReactNode, useEffect, useRef } from 'react'
import { SEARCH_MAX } from '../../contract/constants.ts'
import { PATHS, SEARCH_PARAM, searchIn, searchPath } from '../../contract/pages.ts'
import { useEntry } from '../history/entry.tsx'
import { navigate } from '../history/history.ts'
import { focusContent } from '../history/link.tsx'

type SearchFormProps = {
  className?: string
  /** The accessible name of the field. */
  label: string
  placeholder: string
  /** Whether the field has the focus until something is searched. */
  hasFocus?: boolean
  children?: ReactNode
}

/** Renders a plain form, which works without scripts. */
export function SearchForm(props: SearchFormProps) {
  const { className, label, placeholder, hasFocus = false, children } = props
  const { search, isReturn } = useEntry()
  const q = searchIn(search)
  const takesFocus = hasFocus && q === '' && !isReturn
  const input = useRef<HTMLInputElement>(null)

  useEffect(() => {
    if (takesFocus) input.current?.focus()
  }, [takesFocus])

  function submit(event: FormEvent): void {
    event.preventDefault()
    const words = input.current?.value.trim() ?? ''
    // Closes the on-screen keyboard, which would cover the results.
    if (words !== '') focusContent()
    else input.current?.focus({ preventScroll: true })
    navigate(searchPath(words))
  }

  return (
    <search>
      <form className={className} action={PATHS.search} onSubmit={submit}>
        <input
          key={q}
          ref={input}
          className="input"
          type="search"
          name={SEARCH_PARAM}
          defaultValue={q}
          maxLength={SEARCH_MAX}
          enterKeyHint="search"
          autoComplete="off"
          aria-label={label}
          placeholder={placeholder}
        />
        {children}
      </form>
    </search>
  )
}
