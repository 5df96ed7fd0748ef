import { useMemo, useState } from 'react'
import { countdown } from '../format/time.ts'
import { CallError } from '../http/call-error.ts'
import { errorMessage } from '../http/error-message.ts'
import { useSecondsLeft } from '../platform/use-seconds-left.ts'
import { clientToken } from '../session/client-token.ts'
import { useAction } from '../session/use-action.tsx'
import type { Operation, savedOperation } from './saved-operation.ts'

export type Start = Pick<Operation, 'email' | 'way'>
export type Attempt = {
  code: string
  /** Whether to restore the deleted account whose code was right. */
  restore?: true
}

type MailedCodeOptions<Answer> = {
  saved: ReturnType<typeof savedOperation>
  start: (start: Start & { clientToken: string }) => Promise<{ id: string }>
  verify: (
    input: { params: { id: string }; body: { confirmCode: string; clientToken: string } },
    attempt: Operation & Attempt,
  ) => Promise<Answer>
  onVerified: (answer: Answer, operation: Operation) => unknown
  /** Returns true if the caller shows the refusal in a step of its own. */
  onRefused?: (error: CallError, sent: Start | Attempt) => boolean
}

export type MailedCode = ReturnType<typeof useMailedCode>

/** Runs the flow of a mailed code: start, resend, verify, and continue after a reload. */
export function useMailedCode<Answer>(options: MailedCodeOptions<Answer>) {
  const { operation, put, start, verify } = useOperation(options)
  const [email, setEmail] = useState(operation?.email ?? '')
  const [code, setCode] = useState('')
  /** Stays true until the page that `onVerified` opens is there. */
  const [isVerified, setIsVerified] = useState(false)

  const { mutate, ...action } = useAction({
    mutationFn: async (sent: Start | Attempt) => {
      try {
        if (isStart(sent)) {
          await start(sent)
          setCode('')
        } else await verify(sent)
        setIsVerified(!isStart(sent))
      } catch (reason) {
        if (!(reason instanceof CallError)) throw reason
        // A refused code cannot be used again; a code that did not reach the server can be.
        if (reason.status === 400) setCode('')
        if (!options.onRefused?.(reason, sent)) throw reason
      }
    },
  })

  function send(asked: Start): void {
    setEmail(asked.email)
    mutate(asked)
  }

  function goBack(): void {
    if (operation) put({ ...operation, isLeft: true })
    setCode('')
    action.clearError()
  }

  return {
    ...action,
    refusal: useRefusal(action.error),
    /** The address that was sent last. */
    email,
    start: send,
    verify: (attempt: Attempt) => mutate(attempt),
    goBack,
    /** Props of `CodeEntry`; null before a code is mailed, and after the person went back. */
    entry:
      operation === null || operation.isLeft
        ? null
        : {
            operation,
            code,
            busy: action.isPending || isVerified,
            isResending: action.isPending && isStart(action.variables),
            error: action.error,
            onType: (typed: string) => {
              action.clearError()
              setCode(typed)
            },
            onComplete: (full: string) => mutate({ code: full }),
            onResend: () => send({ email: operation.email, way: operation.way }),
            onReturn: goBack,
          },
  }
}

function isStart(sent: Start | Attempt | undefined): sent is Start {
  return sent !== undefined && 'email' in sent
}

/** Returns the stored operation, and functions that begin and end it. They throw CallError. */
function useOperation<Answer>(options: MailedCodeOptions<Answer>) {
  const { saved } = options
  const [operation, setOperation] = useState(() => saved.read())

  function put(next: Operation): void {
    saved.write(next)
    setOperation(next)
  }

  async function start(asked: Start): Promise<void> {
    const askedAt = Date.now()
    const { id } = await options.start({ ...asked, clientToken: await clientToken() })
    const next = { ...asked, id, askedAt, sentAt: Date.now() }
    const latestAt = saved.read()?.askedAt ?? 0
    // If the form was closed, a code that was asked for later may have been sent before this one.
    if (latestAt > askedAt) setOperation(next)
    else put(next)
  }

  async function verify(attempt: Attempt): Promise<void> {
    if (!operation) return
    const body = { confirmCode: attempt.code, clientToken: await clientToken() }
    const input = { params: { id: operation.id }, body }
    const answer = await options.verify(input, { ...operation, ...attempt })
    saved.remove()
    await options.onVerified(answer, operation)
  }

  return { operation, put, start, verify }
}

/** Returns when to try again after an error (unix milliseconds; 0 if at once), and a message. */
export function useRefusal(error: Error | null) {
  const retryAt = useMemo(() => {
    const isRefusal = error instanceof CallError && error.status < 500
    const seconds = isRefusal ? error.retryAfter : undefined
    return seconds === undefined ? 0 : Date.now() + seconds * 1000
  }, [error])
  const secondsLeft = useSecondsLeft(retryAt)
  const isOver = retryAt > 0 && secondsLeft === 0
  return { retryAt, secondsLeft, message: error && !isOver ? errorMessage(error) : undefined }
}

const MINUTE = 60
const HOUR = 3600

/** Returns the countdown in a button's label; '' without a wait, or for an hour or more. */
export function inTime(seconds: number): string {
  if (seconds === 0 || seconds >= HOUR) return ''
  return ` через ${seconds > MINUTE ? countdown(seconds) : `${seconds} с`}`
}
