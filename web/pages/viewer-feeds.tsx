import { Search } from 'lucide'
import { type SearchPageName, searchPath } from '../../contract/pages.ts'
import { receivedSource } from '../answers/received.queries.ts'
import { postsOfSource, repliesOfSource } from '../authors/authors.queries.ts'
import { NoPosts, PostFeed } from '../feed/post-feed.tsx'
import { ReceivedCard } from '../feed/received-card.tsx'
import { useEntry, usePageTitle } from '../history/entry.tsx'
import { RemovedPosts } from '../moderation/appeals/removed-posts.tsx'
import { likedSource } from '../posts/cache/posts.queries.ts'
import { openNewPost } from '../session/intents.ts'
import { useUser } from '../session/viewer.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { WallLink } from './wall.tsx'

type SearchLinkProps = { to: SearchPageName; children: string }

/** Leads to the search in a list of the viewer's own. */
function SearchLink({ to, children }: SearchLinkProps) {
  return (
    <a className="line soft band focus-inside" href={searchPath('', to)}>
      <Icon shape={Search} size={18} />
      {children}
    </a>
  )
}

/** /liked */
export function LikedPage() {
  usePageTitle('Понравившиеся')
  return (
    <>
      <SearchLink to="searchLiked">Искать в понравившихся</SearchLink>
      <PostFeed
        source={likedSource}
        label="Понравившиеся"
        empty={<NoPosts note="Этот список видите только вы" action={<WallLink />} />}
      />
    </>
  )
}

/** /own/posts */
export function OwnPostsPage() {
  usePageTitle('Мои записи')
  const user = useUser()
  return (
    user && (
      <RemovedPosts>
        <SearchLink to="searchOwn">Искать в моих записях и ответах</SearchLink>
        <PostFeed
          source={postsOfSource(user.id)}
          label="Мои записи"
          empty={
            <NoPosts
              action={
                <Button variant="strong" onClick={openNewPost}>
                  Новая запись
                </Button>
              }
            />
          }
        />
      </RemovedPosts>
    )
  )
}

/** /own/replies */
export function OwnRepliesPage() {
  usePageTitle('Мои ответы')
  const user = useUser()
  return (
    user && (
      <>
        <SearchLink to="searchOwn">Искать в моих записях и ответах</SearchLink>
        <PostFeed
          source={repliesOfSource(user.id)}
          label="Мои ответы"
          empty={<NoPosts action={<WallLink />} />}
          endText="Это все ответы"
        />
      </>
    )
  )
}

/** /replies */
export function ReceivedPage() {
  usePageTitle('Ответы мне')
  const { key } = useEntry()
  return (
    <PostFeed
      source={receivedSource(key)}
      label="Ответы мне"
      card={ReceivedCard}
      empty={
        <NoPosts note="Здесь появятся ответы на ваши записи и упоминания" action={<WallLink />} />
      }
      endText="Это все ответы"
    />
  )
}
