import { NAMES_SUGGESTED_MAX } from '../../../contract/constants.ts'
import { suggestNames } from '../../../contract/mentions.ts'
import { isRowId } from '../../kernel/db/database.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import { selectAuthorsByName, selectThreadAuthors } from './mentions.repository.ts'

/** Enough to type names for an hour, too few to read all names of a large wall. */
const SUGGESTIONS: Limit = {
  name: 'name-suggestion',
  rates: [
    [30, 30],
    [600, 3600],
  ],
  refusal: 'Подсказок имён пока хватит: следующая — через {time}. Имя можно дописать и без неё',
}

export function registerMentions({ route, db, limits }: ServerContext): void {
  route(suggestNames, async ({ query: { start: typed, postId = '' }, viewer }) => {
    await limits.charge([{ limit: SUGGESTIONS, key: viewer.userId }])
    const asked = { start: typed.toLowerCase(), viewerId: viewer.userId }
    const [near, all] = await Promise.all([
      isRowId(postId) ? selectThreadAuthors(db, { ...asked, postId }) : [],
      selectAuthorsByName(db, asked),
    ])
    const others = all.filter(({ id }) => near.every((user) => user.id !== id))
    return { users: [...near, ...others].slice(0, NAMES_SUGGESTED_MAX) }
  })
}
