import { Rss } from 'lucide'
import type { Profile } from '../../contract/account.ts'
import { authorPath, cursorIn, feedPath, type Page, TITLES } from '../../contract/pages.ts'
import styles from '../authors/author.module.css'
import { postsOfSource, repliesOfSource, useAuthor } from '../authors/authors.queries.ts'
import { PostFeed } from '../feed/post-feed.tsx'
import { useMuteAuthor, useMuteItems } from '../feed/use-mute-author.ts'
import { monthAndYear, postsAndReplies } from '../format/labels.ts'
import { useEntry, usePage, usePageTitle } from '../history/entry.tsx'
import { Read } from '../http/read.tsx'
import { useIsMuted } from '../posts/cache/hidden.ts'
import { useIsModerator } from '../session/site-state.ts'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Monogram } from '../ui/monogram.tsx'
import type { MenuItem } from '../ui/overlay/menu.tsx'
import { MenuButton, menu } from '../ui/overlay/menu-button.tsx'
import { EmptyState } from '../ui/states/empty-state.tsx'
import { Skeleton } from '../ui/states/skeleton.tsx'
import { DeadEnd } from './wall.tsx'

type AuthorList = Extract<Page, { username: string }>['name']

/** /users/:username and /users/:username/replies */
export function AuthorPage() {
  const page = usePage()
  const [username, list] =
    page && 'username' in page ? [page.username, page.name] : ['', 'author' as const]
  const query = useAuthor(username)
  const { data: author } = query
  usePageTitle(author === null ? TITLES.noAuthor : (author?.username ?? 'Автор'), 'tab')
  return (
    <Read query={query} loading={<Skeleton label="Загружаем автора" />}>
      {(author) =>
        author ? (
          <Author key={list} author={author} list={list} />
        ) : (
          <DeadEnd title={TITLES.noAuthor} text="Такого имени нет, или его давно сменили" />
        )
      }
    </Read>
  )
}

type AuthorProps = { author: Profile; list: AuthorList }

function Author({ author, list }: AuthorProps) {
  const { id, username, created_at } = author
  const { pathname, search } = useEntry()
  const start = cursorIn(search)
  const isPosts = list === 'author'
  const isMuted = useIsMuted(id)
  const isModerator = useIsModerator(id)
  const { isPending, mutate } = useMuteAuthor(author)

  return (
    <>
      <div className={classes('wrap', styles.head)}>
        <Monogram name={username} />
        <div className={styles.about}>
          <h1 className={styles.name}>{username}</h1>
          <p className="soft">
            {isModerator && 'модератор · '}
            {postsAndReplies(author)} · с&nbsp;{monthAndYear(created_at)}
          </p>
        </div>
        <div className={styles.menu}>
          <AuthorMenuButton author={author} />
        </div>
      </div>
      <nav className="tabs" aria-label="Что написал автор">
        <ListLink to={authorPath(username)} current={pathname} name="Записи" />
        <ListLink to={authorPath(username, 'authorReplies')} current={pathname} name="Ответы" />
      </nav>
      {isMuted ? (
        <EmptyState
          title="Вы скрыли этого автора"
          text="Записи и ответы вернутся, если вернуть автора"
          action={
            <Button pending={isPending} onClick={() => mutate(null)}>
              Вернуть
            </Button>
          }
        />
      ) : (
        <PostFeed
          source={(isPosts ? postsOfSource : repliesOfSource)(id, start)}
          label={isPosts ? `Записи автора ${username}` : `Ответы автора ${username}`}
          endText={isPosts ? undefined : 'Это все ответы'}
          hasFoot
        />
      )}
    </>
  )
}

function AuthorMenuButton({ author }: { author: Profile }) {
  const muteItems = useMuteItems(author)
  const feed: MenuItem = {
    label: 'Лента RSS',
    icon: Rss,
    onSelect: () => location.assign(feedPath('author', author.username)),
  }
  const props = { role: 'menu', items: [feed, ...muteItems] } as const
  return <MenuButton about={author.username} chunk={menu} props={props} />
}

function ListLink({ to, current, name }: { to: string; current: string; name: string }) {
  return (
    <a className="tab" href={to} aria-current={to === current ? 'page' : undefined}>
      {name}
    </a>
  )
}
