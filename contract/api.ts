import * as account from './account.ts'
import * as accountDeletion from './account-deletion.ts'
import * as answers from './answers.ts'
import * as codes from './codes.ts'
import * as dataExport from './data-export.ts'
import * as fields from './fields.ts'
import * as likes from './likes.ts'
import * as mentions from './mentions.ts'
import * as moderation from './moderation.ts'
import * as mutes from './mutes.ts'
import * as passkeys from './passkeys.ts'
import * as posts from './posts.ts'
import * as replies from './replies.ts'
import * as reports from './reports.ts'
import * as search from './search.ts'
import * as sessions from './sessions.ts'
import * as signIn from './sign-in.ts'
import * as texts from './texts.ts'

/** The files of the contract. `openapi.json` calls endpoints and schemas as they are exported here. */
export const CONTRACT = [
  account,
  accountDeletion,
  answers,
  codes,
  dataExport,
  fields,
  likes,
  mentions,
  moderation,
  mutes,
  passkeys,
  posts,
  replies,
  reports,
  search,
  sessions,
  signIn,
  texts,
] as const

type Exported<File> = File extends unknown ? File[keyof File] : never
type AnyEndpoint = Extract<Exported<(typeof CONTRACT)[number]>, { method: string; path: string }>

/** Maps call names, such as `'POST /posts/:id/likes'`, to types: no schema reaches the browser. */
export type Api = { [E in AnyEndpoint as `${E['method']} ${E['path']}`]: E }
export type CallName = keyof Api
/** The calls that change something in the name of a signed-in user. */
export type WriteName = {
  [N in CallName]: Api[N] extends { method: 'GET' }
    ? never
    : Api[N] extends { access: 'user' | 'moderator' }
      ? N
      : never
}[CallName]
