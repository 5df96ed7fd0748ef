import type * as account from './account.ts'
import type * as accountDeletion from './account-deletion.ts'
import type * as answers from './answers.ts'
import type * as codes from './codes.ts'
import type * as dataExport from './data-export.ts'
import type * as likes from './likes.ts'
import type * as moderation from './moderation.ts'
import type * as mutes from './mutes.ts'
import type * as posts from './posts.ts'
import type * as profiles from './profiles.ts'
import type * as replies from './replies.ts'
import type * as reports from './reports.ts'
import type * as search from './search.ts'
import type * as sessions from './sessions.ts'
import type * as signIn from './sign-in.ts'
import type * as texts from './texts.ts'

type Modules = typeof account &
  typeof accountDeletion &
  typeof answers &
  typeof codes &
  typeof dataExport &
  typeof likes &
  typeof moderation &
  typeof mutes &
  typeof posts &
  typeof profiles &
  typeof replies &
  typeof reports &
  typeof search &
  typeof sessions &
  typeof signIn &
  typeof texts

type Described = Extract<Modules[keyof Modules], { method: string; path: string }>

/** Every call by its name, such as `'POST /posts/:id/likes'`. No schema reaches the browser. */
export type Api = { [E in Described as `${E['method']} ${E['path']}`]: E }
export type CallName = keyof Api
/** The calls that change something in the name of a user. */
export type WriteName = {
  [N in CallName]: Api[N] extends { method: 'GET' }
    ? never
    : Api[N] extends { access: 'user' | 'moderator' }
      ? N
      : never
}[CallName]
