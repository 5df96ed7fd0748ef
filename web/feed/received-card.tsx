import { memo } from 'react'
import { postPath } from '../../contract/pages.ts'
import { useReceived } from '../answers/received.queries.ts'
import { plural, REPLY_FORMS } from '../format/counts.ts'
import { readCachedPost } from '../posts/cache/post-cache.ts'
import { classes } from '../ui/classes.ts'
import { Pause } from '../ui/pause.tsx'
import { type FeedCardProps, FeedPost } from './post-controls.tsx'
import styles from './received-card.module.css'

const NEW_REPLY_FORMS = { one: 'новый ответ', few: 'новых ответа', many: 'новых ответов' }

/**
 * Shows a received reply or mention. The first of adjacent replies to one post names that post, and
 * says how many of them are new.
 */
export const ReceivedCard = memo(function ReceivedCard(props: FeedCardProps) {
  const { id, ids } = props
  const received = useReceived()
  const isMention = received.mentions.includes(id)
  const group = isMention ? [id] : groupOf(ids, id, received.mentions)
  const fresh = group.filter((reply) => received.fresh.includes(reply))
  return (
    <FeedPost
      {...props}
      withoutQuote={group.length > 1}
      above={
        <>
          {isMention && <Why isFresh={fresh[0] === id}>Вас упомянули</Why>}
          {!isMention && fresh[0] === id && (
            <Why isFresh>
              {fresh.length === 1
                ? 'Новый ответ'
                : `${fresh.length} ${plural(fresh.length, NEW_REPLY_FORMS)}`}
            </Why>
          )}
          {group.length > 1 && group[0] === id && <GroupLine group={group} />}
        </>
      }
    />
  )
})

function Why({ isFresh, children }: { isFresh: boolean; children: string }) {
  return (
    <>
      <span className={classes(isFresh ? 'line act' : 'line soft', styles.fresh)}>
        {isFresh && <span className="dot" />}
        {children}
      </span>
      <Pause />
    </>
  )
}

function GroupLine({ group }: { group: readonly string[] }) {
  const first = readCachedPost(group[0] ?? '')
  const repliedId = first?.actions.replied_post_id
  if (!first || !repliedId) return null
  const replied = readCachedPost(repliedId)
  return (
    <>
      <p className={classes('soft clamp', styles.group)}>
        {sentenceOf(group)}{' '}
        <a href={postPath(repliedId)}>{replied ? `«${replied.text}»` : 'удалённую запись'}</a>
      </p>
      <Pause />
    </>
  )
}

/** Returns a text such as 'anna и ещё 4 ответили на'. */
function sentenceOf(group: readonly string[]): string {
  const names = group.map((id) => readCachedPost(id)?.owner.username ?? '')
  const [first, second, ...others] = new Set(names)
  const count = group.length
  if (second === undefined) return `${count} ${plural(count, REPLY_FORMS)} от ${first} на`
  return `${first} и ${others.length > 0 ? `ещё ${others.length + 1}` : second} ответили на`
}

/** Returns the adjacent replies to the post that a reply answers, without `mentions`. */
function groupOf(
  ids: readonly string[],
  id: string,
  mentions: readonly string[],
): readonly string[] {
  const repliedBy = (of: string | undefined) =>
    of === undefined || mentions.includes(of)
      ? undefined
      : readCachedPost(of)?.actions.replied_post_id
  const replied = repliedBy(id)
  if (!replied) return [id]
  let [from, to] = [ids.indexOf(id), ids.indexOf(id) + 1]
  while (repliedBy(ids[from - 1]) === replied) from--
  while (repliedBy(ids[to]) === replied) to++
  return ids.slice(from, to)
}
