import { createEmitter, useAtom } from '../../platform/atom.ts'
import { isString, shape } from '../../platform/guards.ts'
import { localStore } from '../../platform/storage.ts'
import { useUser } from '../../session/viewer.ts'

export type DraftTarget = 'new' | `reply ${string}` | `edit ${string}` | `appeal ${string}`

/** With the id of its author, what the name of each text in the outbox begins with. */
export const OUTBOX = 'outbox'

/** A draft was created or removed, or the outbox has changed, perhaps by another tab. */
export const textsChanged = createEmitter(() => {
  globalThis.addEventListener?.('storage', followOtherTab)
  return () => globalThis.removeEventListener?.('storage', followOtherTab)
})

function followOtherTab({ key }: StorageEvent): void {
  if (!key || key.startsWith(OUTBOX)) textsChanged.emit()
}

/** The name of a draft is this and its tab. */
export function draftPrefix(userId: string, target: DraftTarget): string {
  return `draft ${userId} ${target} `
}

export const isDraft = shape<{ text: string }>({ text: isString })

/** Returns what some tab holds as the viewer's draft. */
export function useUnsentText(target: DraftTarget): string | null {
  const prefix = draftPrefix(useUser()?.id ?? '', target)
  const textOf = (name: string) => localStore.readJson(name, isDraft)?.text
  const get = () => localStore.keys(prefix).map(textOf).find(Boolean) ?? null
  return useAtom({ get, subscribe: textsChanged.subscribe }, null)
}

/** Whether the outbox holds a text, by any author. */
export function useHasOutbox(): boolean {
  const get = () => localStore.keys(OUTBOX).length > 0
  return useAtom({ get, subscribe: textsChanged.subscribe }, false)
}
