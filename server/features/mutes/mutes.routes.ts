import { MUTES_MAX } from '../../../contract/constants.ts'
import * as calls from '../../../contract/mutes.ts'
import { isRowId } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { BackgroundWork, ServerContext } from '../../kernel/server-context.ts'
import {
  countOtherMutedUsers,
  muteUser,
  removeEndedMutes,
  selectMutedUsers,
  unmuteUser,
} from './mutes.repository.ts'

export function registerMutes({ route, db }: ServerContext): BackgroundWork {
  route(calls.listMutes, async ({ viewer }) => ({
    users: await selectMutedUsers(db, viewer.userId),
  }))

  route(calls.muteUser, async ({ params, query, viewer: { userId } }) => {
    const mute = muteOf(userId, params.id)
    await db.transaction().execute(async (tx) => {
      if ((await countOtherMutedUsers(tx, mute)) >= MUTES_MAX) throw new AppError('TOO_MANY_MUTES')
      if (!(await muteUser(tx, { ...mute, ...query }))) throw noSuchUser()
    })
  })

  route(calls.unmuteUser, async ({ params, viewer: { userId } }) => {
    if (!(await unmuteUser(db, muteOf(userId, params.id)))) throw noSuchUser()
  })

  return { pruning: [removeEndedMutes] }
}

function muteOf(userId: string, mutedId: string) {
  if (!isRowId(mutedId)) throw noSuchUser()
  if (mutedId === userId) {
    throw new AppError('INVALID_REQUEST', { message: 'Себя скрыть нельзя' })
  }
  return { userId, mutedId }
}

function noSuchUser(): AppError {
  return new AppError('NOT_FOUND', { message: 'Такого пользователя нет' })
}
