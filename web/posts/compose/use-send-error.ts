import { useEffect, useRef, useState } from 'react'
import { CallError } from '../../api/call.ts'
import { errorMessage } from '../../api/error-message.ts'
import { useToast } from '../../ui/toaster.tsx'
import { type Intent, withViewer } from '../../viewer/intents.ts'

type SendErrorParts = {
  /** How to come back to the dialog. */
  intent: Intent
  /** What to say first where the dialog is gone: 'Не отправлено'. */
  failed: string
}

export type SendError = ReturnType<typeof useSendError>

/** Why a send failed, for the line in its dialog; where the dialog was closed meanwhile, a toast tells it. */
export function useSendError({ intent, failed }: SendErrorParts) {
  const toast = useToast()
  const [shown, setShown] = useState<{ text: string; needsSignIn: boolean }>()
  const gone = useRef(false)
  useEffect(() => {
    gone.current = false
    return () => {
      gone.current = true
    }
  }, [])
  const comeBack = () => void withViewer(intent)

  return {
    text: shown?.text,
    /** Signs in and comes back to the dialog; undefined where that is not what is wanting. */
    signIn: shown?.needsSignIn ? comeBack : undefined,
    forget: () => setShown(undefined),
    tell: (reason: unknown) => {
      const text = errorMessage(reason)
      if (gone.current) {
        toast({ text: `${failed}. ${text}`, link: { label: 'Вернуться', onSelect: comeBack } })
      } else {
        setShown({ text, needsSignIn: reason instanceof CallError && reason.status === 401 })
      }
    },
  }
}
