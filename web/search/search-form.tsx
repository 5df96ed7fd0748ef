import type { FormEvent, ReactNode, Ref } from 'react'
import { SEARCH_MAX } from '../../contract/constants.ts'
import {
  PATHS,
  SEARCH_PARAM,
  type SearchPageName,
  searchPath,
  searchTextIn,
} from '../../contract/pages.ts'
import { focusContent, useEntry } from '../history/entry.tsx'
import { navigate } from '../history/history.ts'

type SearchFormProps = {
  /** The page that shows what is found. */
  page?: SearchPageName
  className?: string
  /** The accessible name of the field, which `ref` refers to. */
  label: string
  ref?: Ref<HTMLInputElement>
  placeholder: string
  children?: ReactNode
}

/** Renders a plain form, which works without scripts. */
export function SearchForm({ page = 'search', className, label, ...field }: SearchFormProps) {
  const { ref, placeholder, children } = field
  const q = searchTextIn(useEntry().search)

  function search(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const words = String(new FormData(event.currentTarget).get(SEARCH_PARAM)).trim()
    // Closes the on-screen keyboard, which would cover the results.
    if (words !== '') focusContent()
    navigate(searchPath(words, page))
  }

  return (
    <search>
      <form className={className} method="get" action={PATHS[page]} onSubmit={search}>
        <input
          key={q}
          ref={ref}
          defaultValue={q}
          className="input"
          type="search"
          name={SEARCH_PARAM}
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
