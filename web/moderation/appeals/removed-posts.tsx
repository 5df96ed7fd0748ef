import { type ReactNode, useEffect } from 'react'
import type { OwnRemovedPost as Removed } from '../../../contract/moderation.ts'
import { excerpt } from '../../../contract/post-rules.ts'
import { formatDate } from '../../format/labels.ts'
import { Read } from '../../http/read.tsx'
import { whenVisible } from '../../platform/timing.ts'
import { useRemovedPosts } from '../../posts/cache/moderated.queries.ts'
import { PostText } from '../../posts/view/post-text.tsx'
import { withViewer } from '../../session/intents.ts'
import { useUser } from '../../session/viewer.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Skeleton } from '../../ui/states/skeleton.tsx'
import { storeSeenRemoval } from '../outcomes/new-outcomes.ts'
import styles from './removed-posts.module.css'

const UNFOLDED = 3
/** The characters of a post in the name of its button, by which screen readers tell it apart. */
const NAME_MAX = 40

/** Shows the viewer's removed posts above a list, which suppresses the toast about them. */
export function RemovedPosts({ children }: { children: ReactNode }) {
  const query = useRemovedPosts()
  // Otherwise the list would move when they arrive.
  const waits = useUser()?.lastRemoval !== undefined && query.isPending
  const last = query.data?.posts.find(({ state }) => state === 'removed')?.removedAt
  useEffect(() => {
    if (last) return whenVisible(() => storeSeenRemoval(last))
  }, [last])
  return (
    <>
      <Read query={query} loading={waits && <Skeleton label="Загружаем записи" />} inRow>
        {({ posts }) => posts.length > 0 && <RemovedSection posts={posts} />}
      </Read>
      {!waits && children}
    </>
  )
}

function RemovedSection({ posts }: { posts: readonly Removed[] }) {
  const folded = posts.slice(UNFOLDED)
  return (
    <section aria-label="Удалённые и скрытые">
      <RemovedList posts={posts.slice(0, UNFOLDED)} />
      {folded.length > 0 && (
        <details>
          <summary className={classes('band', styles.more)}>Ещё {folded.length}</summary>
          <RemovedList posts={folded} />
        </details>
      )}
    </section>
  )
}

function RemovedList({ posts }: { posts: readonly Removed[] }) {
  return (
    <ul>
      {posts.map((post) => (
        <li key={post.id}>
          <RemovedPost post={post} />
        </li>
      ))}
    </ul>
  )
}

/** Shows a missing post to its author if it was removed or is hidden, and `children` to others. */
export function OwnRemovedPost({ id, children }: { id: string; children: ReactNode }) {
  const { data, isLoading } = useRemovedPosts()
  if (isLoading) return <Skeleton label="Загружаем запись" />
  const post = data?.posts.find((removed) => removed.id === id)
  return post ? <RemovedPost post={post} /> : children
}

function RemovedPost({ post }: { post: Removed }) {
  return (
    <article className={classes('stack band', styles.post)}>
      <RemovedText post={post} />
      {post.state === 'hidden' ? (
        <p className="soft">
          На запись пожаловались несколько человек. Пока модератор не решит, она видна только вам
        </p>
      ) : (
        <AppealState post={post} />
      )}
    </article>
  )
}

export function RemovedText({ post }: { post: Removed }) {
  const { state, reason } = post
  return (
    <>
      <p className={styles.why}>
        <b>{state === 'hidden' ? 'Скрыта до решения' : 'Удалено модератором:'}</b> {reason}
      </p>
      <div className={classes('clamp', styles.text)}>
        <PostText post={post} />
      </div>
    </>
  )
}

function AppealState({ post: { id, text, appeal, until } }: { post: Removed }) {
  if (appeal) {
    return (
      <div className="soft">
        <p>
          {appeal.state === 'open'
            ? 'Вы обжаловали решение. Модератор посмотрит ещё раз.'
            : 'Модератор посмотрел ещё раз: решение осталось в силе.'}
        </p>
        <p className={classes('quoted', styles.appeal)}>{appeal.text}</p>
      </div>
    )
  }
  return (
    <div className="spread">
      <p className="soft">Видна только вам до {formatDate(until)}</p>
      <Button
        size="s"
        aria-label={`Обжаловать: ${excerpt(text, NAME_MAX)}`}
        onClick={() => void withViewer({ name: 'appeal', postId: id })}
      >
        Обжаловать
      </Button>
    </div>
  )
}
