import { isNumber, isString, shape } from '../../platform/guards.ts'
import { localStore } from '../../platform/storage.ts'
import { type Target, textPrefix } from './stored-texts.ts'
import { type Written, writtenOf } from './written.ts'

type OldText = Written & Record<string, unknown>

const isOldText = shape<OldText>({ text: isString })
const isOldOutgoing = shape<OldText & { by: string; target: Target; key: string }>({
  text: isString,
  by: isString,
  target: isString,
  key: isString,
})

/** Converts the drafts and the outbox that browsers have stored before 1.0.0. */
export function convertOldTexts(): void {
  for (const name of localStore.keys('draft ')) {
    const [, by = '', ...rest] = name.split(' ')
    const id = rest.pop() ?? ''
    const target = rest.join(' ') as Target
    const draft = localStore.readJson(name, isOldText)
    const at = isNumber(draft?.at) ? draft.at : Date.now()
    const record = { ...draft, id, by, target, tab: id, at, state: 'draft', until: 0, tries: 0 }
    if (draft) replace(name, `${textPrefix({ by, target })}${id}`, record)
  }
  for (const name of localStore.keys('outbox ')) {
    const outgoing = localStore.readJson(name, isOldOutgoing)
    if (!outgoing) continue
    const { key, isRefused, ...rest } = outgoing
    const state = isRefused ? 'refused' : rest.failure ? 'waiting' : 'sending'
    const record = { ...rest, id: key, state, sent: { ...writtenOf(rest), key } }
    replace(name, `${textPrefix(rest)}${key}`, record)
  }
}

function replace(name: string, key: string, record: unknown): void {
  localStore.writeJson(key, record)
  // A full storage keeps the old record until the next load.
  if (!localStore.isUnsaved(key)) localStore.remove(name)
}
