import { useEffect, useMemo, useRef } from 'react'
import { UNSEEN_IN_WORDS } from '../../contract/constants.ts'
import { cursorIn, type SearchPageName, searchPath, searchTextIn } from '../../contract/pages.ts'
import { type SearchScope, SIMILAR_LINE, searchTitle } from '../../contract/search-rules.ts'
import { type FeedCardProps, FeedPost } from '../feed/post-controls.tsx'
import { NoPosts, PostFeed, SiteFoot } from '../feed/post-feed.tsx'
import { useEntry, usePage, usePageTitle } from '../history/entry.tsx'
import { Highlighted } from '../posts/view/post-text.tsx'
import { searchSource, useSearchState } from '../search/search.queries.ts'
import styles from '../search/search-form.module.css'
import { SearchForm } from '../search/search-form.tsx'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { EmptyState } from '../ui/states/empty-state.tsx'

const SCOPES: Record<SearchPageName, [label: string, scope?: SearchScope]> = {
  search: ['Везде'],
  searchOwn: ['Мои', 'own'],
  searchLiked: ['Понравившиеся', 'liked'],
}
const PAGES = Object.entries(SCOPES) as [SearchPageName, (typeof SCOPES)[SearchPageName]][]

/** /search?q=, /own/search?q= and /liked/search?q= */
export function SearchPage() {
  const { search, key: entryKey, isReturn } = useEntry()
  const [q, start] = [searchTextIn(search), cursorIn(search)]
  const field = useRef<HTMLInputElement>(null)
  const page = (usePage()?.name ?? 'search') as SearchPageName
  const [, scope] = SCOPES[page]
  usePageTitle(searchTitle(''), 'header', searchTitle(q))
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs again when another search without words is opened
  useEffect(() => {
    if (q === '' && !isReturn) field.current?.focus()
  }, [entryKey, q, isReturn])
  return (
    <>
      <SearchForm
        page={page}
        className={classes('line band', !scope && 'below-desktop', styles.form)}
        label="Слова из записи или ответа"
        ref={field}
        placeholder="Слово или фраза"
      >
        <Button type="submit">Найти</Button>
      </SearchForm>
      <nav className={classes('tabs', styles.scopes)} aria-label="Где искать">
        {PAGES.map(([name, [label]]) => (
          <a
            key={name}
            className="tab"
            href={searchPath(q, name)}
            aria-current={name === page ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      {q === '' ? <Help /> : <Found {...{ q, scope, start, entryKey }} />}
    </>
  )
}

/** Shows help and, on phones, the site's texts and the theme, which are far away on the wall. */
function Help() {
  return (
    <>
      <EmptyState
        title="Поиск по записям и ответам"
        text="Слово найдётся в любой форме: по «читать» — и «читаю». Фразу берите в кавычки, перед лишним словом ставьте минус."
      />
      <SiteFoot />
    </>
  )
}

function Found(search: Parameters<typeof searchSource>[0]) {
  const { words, refusal } = useSearchState()
  const highlighted = useMemo(() => foundWords(words), [words])
  return (
    <Highlighted value={highlighted}>
      <PostFeed
        source={searchSource(search)}
        label="Найденные записи"
        card={FoundCard}
        empty={
          refusal === null ? (
            <NoPosts note="Попробуйте другие слова или меньше слов" />
          ) : (
            <EmptyState title="Уточните запрос" text={refusal} />
          )
        }
      />
    </Highlighted>
  )
}

/** Shows a line above the first post that contains only similar words. */
function FoundCard(props: FeedCardProps) {
  const { id, ids } = props
  const { similar } = useSearchState()
  const before = ids[ids.indexOf(id) - 1]
  const isFirst = before === undefined ? id === similar[0] : !similar.includes(before)
  return (
    <>
      {isFirst && similar.includes(id) && (
        <div className={classes('line soft band', styles.similar)}>{SIMILAR_LINE}</div>
      )}
      <FeedPost {...props} />
    </>
  )
}

const FOLDED: Record<string, string> = { е: '[еёѐ]', и: '[иѝ]' }

/** Returns a pattern that matches whole words, also as they were before `foldWords`; null if none. */
function foundWords(words: readonly string[]): RegExp | null {
  if (words.length === 0) return null
  const letterOf = (letter: string) => FOLDED[letter] ?? letter
  const forms = words
    .map((word) => [...word].map((letter) => `${letterOf(letter)}${UNSEEN_IN_WORDS}*`).join(''))
    .join('|')
  return new RegExp(`(?<![\\p{L}\\p{N}])(${forms})(?![\\p{L}\\p{N}])`, 'giu')
}
