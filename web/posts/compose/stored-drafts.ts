import { createEmitter, useAtom } from '../../platform/atom.ts'
import { isString, shape } from '../../platform/guards.ts'
import { localStore, storedElsewhere } from '../../platform/storage.ts'
import { OUTBOX } from '../../session/stored-keys.ts'
import { useUser } from '../../session/viewer.ts'

export type DraftTarget = 'new' | `${'reply' | 'edit' | 'appeal'} ${string}`
export type DraftKind = KindOf<DraftTarget>
type KindOf<Target> = Target extends `${infer Kind} ${string}` ? Kind : Target

/** Returns the kind of a text, and the id of the post that it is about; '' for a new post. */
export function parseTarget(target: DraftTarget): { kind: DraftKind; postId: string } {
  const [kind, postId = ''] = target.split(' ')
  return { kind: kind as DraftKind, postId }
}

/** Returns the dialog that shows a text. */
export function dialogOf(target: DraftTarget) {
  const { kind, postId } = parseTarget(target)
  return kind === 'new' ? ({ name: 'new-post' } as const) : { name: kind, postId }
}

/** Emits when a draft is created or removed, or the outbox changes, even by another tab. */
export const textsChanged = createEmitter(() => storedElsewhere.subscribe(followOtherTab))

function followOtherTab({ key }: StorageEvent): void {
  // What a page shows stays when all data of the site is cleared, and is stored again.
  if (key === '' || key?.startsWith(OUTBOX)) textsChanged.emit()
}

/** Returns the key of a draft without the id of its tab, or the beginning of the keys of a kind. */
export function draftPrefix(userId: string, target: DraftTarget | DraftKind): string {
  return `draft ${userId} ${target} `
}

export const isDraft = shape<{ text: string }>({ text: isString })

/** Returns the viewer's draft of any tab; null if there is none. */
export function useUnsentText(target: DraftTarget): string | null {
  const prefix = draftPrefix(useUser()?.id ?? '', target)
  const textOf = (name: string) => localStore.readJson(name, isDraft)?.text
  const get = () => localStore.keys(prefix).map(textOf).find(Boolean) ?? null
  return useAtom({ get, subscribe: textsChanged.subscribe }, null)
}

/** Returns whether the outbox holds a text of any author. */
export function useHasOutbox(): boolean {
  const get = () => localStore.keys(OUTBOX).length > 0
  return useAtom({ get, subscribe: textsChanged.subscribe }, false)
}
