import { useQuery } from '@tanstack/react-query'
import type { OwnRemovedPost } from '../../contract/moderation.ts'
import { call } from '../api/call.ts'
import { exactDay } from '../format/time.ts'
import { PostText } from '../posts/view/post-text.tsx'
import { Button } from '../ui/button.tsx'
import { withViewer } from '../viewer/intents.ts'
import styles from './removed-posts.module.css'

export const REMOVED_POSTS = ['removed-posts']

/** The viewer's posts and replies that a moderator has removed, each with the way to appeal, and those that reports hide. */
export function RemovedPosts() {
  const { data } = useQuery({
    queryKey: REMOVED_POSTS,
    queryFn: ({ signal }) => call('GET /users/current/removed-posts', {}, { signal }),
    staleTime: 0,
  })
  if (!data || data.posts.length === 0) return null
  return (
    <section aria-label="Удалённые и скрытые">
      <ul>
        {data.posts.map((post) => (
          <li key={post.id} className={styles.post}>
            <p className={styles.why}>
              {post.state === 'hidden' ? (
                <b>Скрыта до проверки</b>
              ) : (
                <>
                  <b>Удалено модератором:</b> {post.reason}
                </>
              )}
            </p>
            <div className={styles.text}>
              <PostText text={post.text} />
            </div>
            {post.state === 'hidden' ? <Hidden /> : <AppealState post={post} />}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What happens next to a post that reports hide. */
function Hidden() {
  return (
    <p className={styles.state}>
      На запись пожаловались несколько человек. Пока модератор не решит, она видна только вам
    </p>
  )
}

/** What became of the appeal, or the button to appeal and until when the post can come back. */
function AppealState({ post: { id, appeal, until } }: { post: OwnRemovedPost }) {
  if (appeal) {
    return (
      <div className={styles.state}>
        <p>
          {appeal.state === 'open'
            ? 'Вы обжаловали решение. Модератор посмотрит ещё раз.'
            : 'Модератор посмотрел ещё раз: решение осталось в силе.'}
        </p>
        <p className={styles.appeal}>{appeal.text}</p>
      </div>
    )
  }
  return (
    <div className={styles.foot}>
      <p className={styles.state}>Видна только вам до {exactDay(until)}</p>
      <Button size="s" onClick={() => void withViewer({ name: 'appeal', postId: id })}>
        Обжаловать
      </Button>
    </div>
  )
}
