type Modules = typeof import('./account.ts') &
  typeof import('./account-deletion.ts') &
  typeof import('./answers.ts') &
  typeof import('./codes.ts') &
  typeof import('./data-export.ts') &
  typeof import('./likes.ts') &
  typeof import('./moderation.ts') &
  typeof import('./mutes.ts') &
  typeof import('./passkeys.ts') &
  typeof import('./posts.ts') &
  typeof import('./replies.ts') &
  typeof import('./reports.ts') &
  typeof import('./search.ts') &
  typeof import('./sessions.ts') &
  typeof import('./sign-in.ts') &
  typeof import('./texts.ts')

type AnyEndpoint = Extract<Modules[keyof Modules], { method: string; path: string }>

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
