import { useEffect, useRef, useState } from 'react'
import { useAction } from '../../http/use-action.tsx'
import { useAtom } from '../../platform/atom.ts'
import { hasCode } from './compose.queries.ts'
import type { Draft } from './drafts.ts'
import {
  drop,
  findShown,
  type Outgoing,
  outbox,
  setShown,
  stopSending,
  submit,
  whenDone,
} from './text-outbox.ts'
import { type Written, writtenOf } from './written.ts'

/**
 * Sends the text of a form by the outbox. A form that is opened again, even after a reload, resumes
 * the text that it showed. After it is closed, the outbox sends the text alone. `onSent` and
 * `onRefused` run only while the form is mounted.
 */
export function useSubmit(
  draft: Draft,
  { target = draft.target, onSent, onRefused = () => {} }: SubmitOptions,
) {
  const { userId: by } = draft
  const isFor = target === draft.target
  const [resumed] = useState(() => (isFor ? findShown({ by, target }) : undefined))
  const isOpen = useRef(false)
  const shown = useAtom(
    { get: () => findShown({ by, target }), subscribe: outbox.subscribe },
    undefined,
  )

  const sending = useAction({
    mutationFn: (input: Written | Outgoing) =>
      'key' in input ? whenDone(input) : submit({ ...input, by, target, key: draft.take(input) }),
    onSuccess: () => {
      if (isOpen.current) onSent()
    },
    onError: () => {
      const refused = findShown({ by, target })
      if (!isOpen.current || !refused) return
      draft.giveBack(refused)
      drop(refused)
      onRefused()
    },
  })

  useEffect(() => {
    isOpen.current = true
    return () => {
      isOpen.current = false
      const left = findShown({ by, target })
      if (left) setShown(left, false)
    }
  }, [by, target])

  // biome-ignore lint/correctness/useExhaustiveDependencies: only what the form began with.
  useEffect(() => {
    if (!resumed) return
    setShown(resumed, true)
    sending.mutate(resumed)
  }, [])

  return {
    ...sending,
    // The form shows the end of the session, which the person may also learn of without sending.
    error: hasCode(sending.error, 'SESSION_CLOSED') ? null : sending.error,
    resumed: resumed && writtenOf(resumed),
    outgoing: sending.isPending ? shown : undefined,
    /** Stops sending, and shows no error, because the person knows why. */
    stop: (outgoing: Outgoing): void => {
      sending.reset()
      stopSending(outgoing)
    },
  }
}

type SubmitOptions = {
  /** The target of the text, if it differs from the target of its draft. */
  target?: Draft['target']
  onSent: () => void
  onRefused?: () => void
}
