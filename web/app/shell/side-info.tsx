import type { FormEvent } from 'react'
import { SEARCH_MAX } from '../../../contract/constants.ts'
import {
  PATHS,
  SEARCH_PARAM,
  SITE_DESCRIPTION,
  searchIn,
  searchPath,
} from '../../../contract/pages.ts'
import { useEntry } from '../../history/entry.tsx'
import { navigate } from '../../history/history.ts'
import { TextLinks } from '../../texts/site-links.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './side-info.module.css'

/** Shows the search, the description and the site's texts beside the column on wide screens. */
export function SideInfo() {
  return (
    <aside className={classes('soft unprinted desktop-only', styles.side)} aria-label="О сайте">
      <SideSearch />
      <p>{SITE_DESCRIPTION}</p>
      <div className={classes('wrap', styles.links)}>
        <TextLinks />
      </div>
    </aside>
  )
}

/** Renders a plain form, which works without scripts. */
function SideSearch() {
  const q = searchIn(useEntry().search)

  function search(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const q = String(new FormData(event.currentTarget).get(SEARCH_PARAM)).trim()
    navigate(searchPath(q))
  }

  return (
    <search>
      <form action={PATHS.search} onSubmit={search}>
        <input
          key={q}
          defaultValue={q}
          className="input"
          type="search"
          name={SEARCH_PARAM}
          maxLength={SEARCH_MAX}
          enterKeyHint="search"
          autoComplete="off"
          aria-label="Поиск по записям"
          placeholder="Поиск"
        />
      </form>
    </search>
  )
}
