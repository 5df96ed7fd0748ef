import { cancelDelayed } from '../../http/delayed-write.ts'
import { errorMessage } from '../../http/error-message.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorPage } from '../../ui/errors.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import styles from './moderation-queue.module.css'
import { useQueue } from './queue.queries.ts'
import { QueueCard } from './queue-card.tsx'

const KEYS = [
  { key: 'J', description: 'дальше' },
  { key: 'K', description: 'назад' },
  { key: 'D', description: 'удалить' },
  { key: 'O', description: 'оставить' },
  { key: 'B', description: 'блокировать' },
  { key: 'Z', description: 'отменить' },
]

export function ModerationQueue() {
  const { data, error, refetch } = useQueue()
  useShortcuts({ KeyZ: () => cancelDelayed() })
  if (!data) {
    return error ? (
      <ErrorPage text={errorMessage(error)} onRetry={refetch} />
    ) : (
      <Skeleton count={3} label="Загружаем жалобы" />
    )
  }
  if (data.posts.length === 0) {
    return <EmptyState title="Жалоб нет" text="Новые появятся здесь сами" />
  }
  return (
    <>
      <div className={styles.top}>
        <p>
          Ждут решения: {data.total}
          {data.total > data.posts.length && `, показаны ${data.posts.length}`}
        </p>
        <KeysHint />
      </div>
      <div role="feed" aria-label="Жалобы">
        {data.posts.map((post, index) => (
          <QueueCard key={post.id} post={post} position={index + 1} setSize={data.total} />
        ))}
      </div>
    </>
  )
}

/** Shown only if there is likely to be a keyboard. */
function KeysHint() {
  return (
    <dl className={styles.keys}>
      {KEYS.map(({ key, description }) => (
        <div key={key} className={styles.pair}>
          <dt>
            <kbd className={styles.key}>{key}</kbd>
          </dt>
          <dd>{description}</dd>
        </div>
      ))}
    </dl>
  )
}
