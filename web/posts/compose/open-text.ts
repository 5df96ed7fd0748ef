import { useEffect, useMemo, useState } from 'react'
import { hadSession } from '../../http/token.ts'
import { randomKey, tabId } from '../../platform/ids.ts'
import { storedElsewhere } from '../../platform/storage.ts'
import { forgetUnlessSigningIn } from '../../session/session-ended.tsx'
import { useAuthorId, useSessionEnd } from '../../session/viewer.ts'
import { type Target, type Text, textsChanged } from './stored-texts.ts'
import {
  change,
  isDraft,
  isPending,
  isSubmitted,
  keyOf,
  put,
  remove,
  startSending,
  texts,
  textsAt,
} from './texts.ts'
import { append, isSame, type Written, writtenOf } from './written.ts'

type Place = Pick<Text, 'by' | 'target'>

/**
 * What has become of a text since its form last saw it: this or another tab has sent it, the server
 * has refused it, the end of the session has removed the draft, or another tab has taken the draft
 * over to write something else.
 */
type Fate = 'kept' | 'sent' | 'refused' | 'removed' | 'taken'

/** The text that a form shows, and what the form does to it. */
export class OpenText {
  readonly #tab: string
  #place: Place
  #id: string
  /** The record as the form last saw it. */
  #seen: Text | undefined

  /** Opens the text of this tab or, if there is none, the newest draft of another tab. */
  constructor(place: Place, tab = tabId()) {
    this.#tab = tab
    this.#place = place
    const found = textsAt(place)
    this.#seen = found.find((it) => it.tab === tab) ?? found.find(isDraft)
    this.#id = this.#seen?.id ?? randomKey()
  }

  get target(): Target {
    return this.#place.target
  }

  get(): Text | undefined {
    return texts.get().find(({ id }) => id === this.#id)
  }

  /** Returns the draft; undefined if it is empty, or the text was submitted. */
  draft(): Text | undefined {
    const now = this.get()
    return now && isDraft(now) ? now : undefined
  }

  /** Stores what was typed. An empty record stays until the form closes. */
  write(written: Written): void {
    const before = this.#take()
    if (!before && written.text === '') return
    const { sent } = before ?? {}
    this.#put({ ...this.#anew(written, 'draft'), ...(sent && { sent }) })
  }

  /** Submits a text, also for other tabs with the same draft. One that waits is not sent twice. */
  send(written: Written): void {
    const before = this.#take()
    const same = textsAt(this.#place).filter((it) => it.id !== this.#id && isSame(it, written))
    const submitted = same.find(isSubmitted)
    same.filter(isDraft).forEach(remove)
    if (submitted) {
      this.remove()
      this.#id = submitted.id
    }
    const sent = (submitted ?? before)?.sent
    const key = sent && isSame(sent, written) ? sent.key : randomKey()
    if (submitted && isPending(submitted)) this.#put({ ...submitted, tab: this.#tab })
    else this.#put({ ...this.#anew(written, 'sending'), sent: { ...writtenOf(written), key } })
    startSending()
  }

  /** Submits the text of an edit as a reply. If it is refused, it is a draft of a reply. */
  sendTo(target: Target, written: Written): void {
    if (target !== this.target) this.remove()
    this.#place = { ...this.#place, target }
    this.send(written)
  }

  /** Makes a submitted text a draft again, without an error: the person knows why. */
  stop(): void {
    const now = this.get()
    if (now) this.#put(withoutFailure({ ...now, state: 'draft' }))
  }

  remove(): void {
    const now = this.get()
    this.#seen = undefined
    if (now) remove(now)
  }

  /** Stores the draft again, which the end of the session or a clearing has removed. */
  keep(): void {
    if (this.#seen && isDraft(this.#seen)) put(this.#seen)
  }

  /** Follows the text until the returned function is called. `onSent` is called once it is gone. */
  follow(onSent: () => void): () => void {
    const check = () => {
      if (this.#look() === 'sent') onSent()
    }
    const now = this.get()
    if (now && isSubmitted(now)) change(now, { tab: this.#tab })
    check()
    const stops = [
      textsChanged.subscribe(check),
      storedElsewhere.subscribe(({ key }) => key === null && this.keep()),
    ]
    return () => {
      for (const stop of stops) stop()
      this.#close()
    }
  }

  /** Looks at the stored text, and makes the form's own again what may be written on. */
  #look(): Fate {
    const [before, now] = [this.#seen, this.get()]
    const fate = this.#fateOf(before, now)
    if (fate !== 'removed') this.#seen = now
    if (fate === 'refused' && now) this.#put({ ...now, state: 'draft' })
    if (fate === 'taken' && before) {
      this.#id = randomKey()
      this.#put({ ...before, id: this.#id })
    }
    return fate
  }

  #fateOf(before: Text | undefined, now: Text | undefined): Fate {
    if (now?.state === 'refused') return 'refused'
    if (!before || !isDraft(before)) return before && isSubmitted(before) && !now ? 'sent' : 'kept'
    if (!hadSession()) return 'removed'
    if (!now) return 'sent'
    if (now.tab === this.#tab) return 'kept'
    const isOwn = before.tab === this.#tab
    if (isSubmitted(now) && (!isOwn || isSame(now, before))) return 'sent'
    return isOwn ? 'taken' : 'kept'
  }

  #close(): void {
    const now = this.get()
    if (!now) return
    if (now.tab === this.#tab) {
      if (isSubmitted(now)) change(now, { tab: '' })
      else if (!isDraft(now) && !now.sent) remove(now)
      else if (now.failure) put(withoutFailure(now))
    }
    forgetUnlessSigningIn(keyOf(now))
    textsChanged.emit()
  }

  /** Returns the draft to write on; undefined if another tab has taken it, or it was submitted. */
  #take(): Text | undefined {
    const now = this.get()
    const isTaken = now && now.tab !== this.#tab && this.#seen?.tab === this.#tab
    if (!isTaken && !(now && isSubmitted(now))) return now
    this.#id = randomKey()
    return undefined
  }

  #anew(written: Written, state: Text['state']): Text {
    const now = Date.now()
    const record = { id: this.#id, tab: this.#tab, at: now, until: now, tries: 0, state }
    return { ...this.#place, ...writtenOf(written), ...record }
  }

  #put(text: Text): void {
    this.#seen = text
    put(text)
  }
}

function withoutFailure({ failure, ...text }: Text): Text {
  return text
}

/** Opens the viewer's text for a target, even if the session ends meanwhile. */
export function useText(target: Target): OpenText {
  const [by] = useState(useAuthorId())
  const isClosed = useSessionEnd()?.code === 'SESSION_CLOSED'
  const text = useMemo(() => new OpenText({ by, target }), [by, target])
  useEffect(() => {
    if (isClosed) text.keep()
  }, [isClosed, text])
  return text
}

/** Appends a text to the draft of a place, unless an earlier attempt has appended it. */
export function addToDraft(place: Place, more: Written): void {
  const open = new OpenText(place)
  const draft = open.draft()
  open.write(append(draft ? writtenOf(draft) : null, more))
}

/** Makes this tab's next form for the target show a text, and leaves what it showed there. */
export function showNext(text: Text): void {
  for (const it of textsAt(text)) if (it.tab === tabId()) change(it, { tab: '' })
  change(text, { tab: tabId() })
}
