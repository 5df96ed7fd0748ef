import {
  listReceived,
  markReceived,
  mutePost,
  readReceived,
  setReplyMails,
  unmutePost,
} from '../../../contract/answers.ts'
import { type Db, isRowId } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Route } from '../../kernel/http/route.ts'
import { readPostRows, receivedBy } from '../posts/post-lists.ts'
import {
  selectReceived,
  selectSeen,
  setMuted,
  setWantsMail,
  updateSeen,
} from './answers.repository.ts'

export function registerAnswers({ route, db }: { route: Route; db: Db }): void {
  route(listReceived, async ({ query, viewer }) => {
    // Read before the list: what comes in between is new rather than seen.
    const seen = await selectSeen(db, viewer.userId)
    const { rows, ...page } = await readPostRows(db, receivedBy(viewer.userId), query, viewer)
    return {
      ...page,
      posts: rows.map(({ key, post }) => ({ ...post, received_no: Number(key) })),
      seen,
    }
  })

  route(readReceived, ({ viewer }) => selectReceived(db, viewer.userId))

  route(markReceived, ({ body, viewer }) => updateSeen(db, viewer.userId, body.seen))

  route(setReplyMails, ({ body, viewer }) => setWantsMail(db, viewer.userId, body.wantsMail))

  route(mutePost, ({ params, viewer }) => mute(params.id, viewer.userId, true))

  route(unmutePost, ({ params, viewer }) => mute(params.id, viewer.userId, false))

  async function mute(id: string, ownerId: string, isMuted: boolean): Promise<void> {
    const isOwn = isRowId(id) && (await setMuted(db, { id, ownerId }, isMuted))
    if (!isOwn) throw new AppError('POST_NOT_FOUND')
  }
}
