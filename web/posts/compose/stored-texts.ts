import type { Failure } from '../../http/call-error.ts'
import { createEmitter, useAtom } from '../../platform/atom.ts'
import { isString, shape } from '../../platform/guards.ts'
import { localStore, storedElsewhere } from '../../platform/storage.ts'
import { TEXT } from '../../platform/stored-keys.ts'
import { useUser } from '../../session/viewer.ts'
import type { Written } from './written.ts'

// The first script needs what is here. All else about texts is in texts.ts.

/**
 * What a person writes is one record in localStorage, from the first letter until the server has it:
 *
 *     (none)            typed                                      → draft
 *     draft             submitted                                  → sending
 *     sending, waiting  the server has it                          → (gone)
 *     sending, waiting  no answer, no session, a short limit, …    → waiting, until the next attempt
 *     sending, waiting  any other failure, or it waited for a day  → refused
 *     sending, waiting  «Не отправлять»                            → draft
 *     refused           its form shows why                         → draft, with the failure
 *     draft             emptied, and its form was closed           → (gone)
 *
 * So a form that sees its record disappear takes the text for sent. Each tab has a record of its own:
 * who continues the draft of another tab takes its record over, and an open form there stores its
 * text anew. The drafts of a closed session are in memory (keptTexts).
 */
export type Text = Written & {
  id: string
  /** The id of the author. */
  by: string
  target: Target
  /** The tab that writes the draft, or whose form shows the submitted text; '' if none does. */
  tab: string
  /** When it was typed or submitted. All times are in unix milliseconds. */
  at: number
  state: 'draft' | 'sending' | 'waiting' | 'refused'
  /** What was submitted last. The server takes a text with this key once. */
  sent?: Written & { key: string }
  /** When the next attempt is due, or allowed after a refused limit. `tries` counts attempts. */
  until: number
  tries: number
  /** Why the last attempt failed. */
  failure?: Failure
  /** When the post that the draft is about was last read. */
  checkedAt?: number
}

export type Target = 'new' | `${'reply' | 'edit' | 'clarify' | 'appeal'} ${string}`
export type Kind = KindOf<Target>
type KindOf<T> = T extends `${infer K} ${string}` ? K : T

/** Returns the kind of a text, and the id of the post that it is about; '' for a new post. */
export function parseTarget(target: Target): { kind: Kind; postId: string } {
  const [kind, postId = ''] = target.split(' ')
  return { kind: kind as Kind, postId }
}

/** Returns the dialog that shows a text. */
export function dialogOf(target: Target) {
  const { kind, postId } = parseTarget(target)
  return kind === 'new' ? ({ name: 'new-post' } as const) : { name: kind, postId }
}

/** Emits when a stored text changes, even in another tab. */
export const textsChanged = createEmitter(() => storedElsewhere.subscribe(followOtherTab))

function followOtherTab({ key }: StorageEvent): void {
  // What a page shows stays when all data of the site is cleared, and is stored again.
  if (key === '' || key?.startsWith(TEXT)) textsChanged.emit()
}

/** Returns the beginning of the keys of an author's texts for a target. */
export function textPrefix({ by, target }: Pick<Text, 'by' | 'target'>): string {
  return `${TEXT} ${by} ${target} `
}

const isStored = shape<Pick<Text, 'text' | 'state'>>({ text: isString, state: isString })

/** Returns the viewer's draft of any tab; null if there is none. */
export function useDraftText(target: Target): string | null {
  const prefix = textPrefix({ by: useUser()?.id ?? '', target })
  const find = () => storedAt(prefix).find(({ text, state }) => text && state === 'draft')
  return useAtom({ get: () => find()?.text ?? null, subscribe: textsChanged.subscribe }, null)
}

/** Returns whether a text of any author waits to be sent, or was refused. */
export function useHasSubmitted(): boolean {
  const get = () => storedAt(TEXT).some(({ state }) => state !== 'draft')
  return useAtom({ get, subscribe: textsChanged.subscribe }, false)
}

function storedAt(prefix: string) {
  return localStore.keys(prefix).flatMap((key) => localStore.readJson(key, isStored) ?? [])
}
