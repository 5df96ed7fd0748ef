import { Fragment, useEffect, useRef } from 'react'
import type { QueuedPost } from '../../../contract/moderation.ts'
import { CONTENT, usePageTitle } from '../../history/entry.tsx'
import { cancelDelayed } from '../../http/delayed-write.ts'
import { Read } from '../../http/read.tsx'
import { classes } from '../../ui/classes.ts'
import keyStyles from '../../ui/key.module.css'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { EmptyState } from '../../ui/states/empty-state.tsx'
import { Skeleton } from '../../ui/states/skeleton.tsx'
import styles from './queue.module.css'
import { mayRemove, useQueue } from './queue.queries.ts'
import { AuthorActions } from './queue-actions.tsx'
import { QueueCard } from './queue-card.tsx'
import { WallState } from './wall-state.tsx'

const KEYS = [
  { key: 'J', description: 'дальше' },
  { key: 'K', description: 'назад' },
  { key: 'D', description: 'удалить' },
  { key: 'O', description: 'оставить' },
  { key: 'B', description: 'блокировать' },
  { key: 'Z', description: 'отменить' },
]

/** /moderation */
export function ModerationQueue() {
  usePageTitle('Модерация')
  useShortcuts({ KeyZ: () => cancelDelayed() })
  return (
    <>
      <Read query={useQueue()} loading={<Skeleton count={3} label="Загружаем жалобы" />}>
        {({ posts, total, appeals }) =>
          posts.length === 0 ? (
            <EmptyState title="Жалоб нет" text="Новые появятся здесь сами" />
          ) : (
            <Queue posts={posts} total={total} appeals={appeals} />
          )
        }
      </Read>
      <WallState />
    </>
  )
}

type QueueProps = { posts: readonly QueuedPost[]; total: number; appeals: number }

function Queue({ posts, total, appeals }: QueueProps) {
  const feed = useRef<HTMLDivElement>(null)
  useEffect(() => focusFirst(feed.current), [])
  return (
    <>
      <div className="soft stack band">
        <p>
          Ждут решения: {total}
          {appeals > 0 && `, из них обжалований: ${appeals}`}
          {total > posts.length && `, показаны ${posts.length}`}
        </p>
        <KeysHint />
      </div>
      <div ref={feed} role="feed" aria-label="Жалобы">
        {posts.map((post, index) => {
          const isFirst = posts[index - 1]?.author.id !== post.author.id
          const reported = isFirst ? posts.filter((it) => isReportedOf(it, post.author.id)) : []
          return (
            <Fragment key={post.id}>
              {reported.length > 1 && <AuthorActions posts={reported} />}
              <QueueCard post={post} position={index + 1} setSize={total} joined={!isFirst} />
            </Fragment>
          )
        })}
      </div>
    </>
  )
}

function isReportedOf(post: QueuedPost, authorId: string): boolean {
  return post.author.id === authorId && mayRemove(post)
}

/** Focuses the first card, on which the keys then act, unless another element has the focus. */
function focusFirst(feed: HTMLElement | null): void {
  const { activeElement, body } = document
  const isFree = activeElement === body || activeElement?.id === CONTENT
  if (isFree) feed?.querySelector('article')?.focus({ preventScroll: true })
}

/** Lists the keys. The CSS hides the list on devices that probably have no keyboard. */
function KeysHint() {
  return (
    <dl className={classes('wrap', styles.keys)}>
      {KEYS.map(({ key, description }) => (
        <div key={key} className={classes('line', styles.pair)}>
          <dt>
            <kbd className={keyStyles.key}>{key}</kbd>
          </dt>
          <dd>{description}</dd>
        </div>
      ))}
    </dl>
  )
}
