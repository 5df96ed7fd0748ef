import { Socket } from 'node:net'
import { createTransport } from 'nodemailer'
import { withDeadline } from '../db/outage.ts'
import type { OnEntry, Relay } from './smtp-options.ts'
import { CONVERSATION_MS, entryLogger, smtpOptions } from './smtp-options.ts'

type Options = { conversationMs?: number; onEntry?: OnEntry }

/**
 * Logs in, as each mail does. Rejects after the time that a mail may take: nodemailer's `verify`
 * limits each step, and a server that sends a byte now and then never ends one.
 */
export async function verifySmtp(
  relay: Relay,
  { conversationMs = CONVERSATION_MS, onEntry = () => {} }: Options = {},
): Promise<void> {
  const logged = { logger: entryLogger(onEntry), transactionLog: true }
  const socket = new Socket()
  const verified = createTransport({ ...smtpOptions(relay), ...logged, socket }).verify()
  await withDeadline(verified, conversationMs, () => {
    socket.destroy()
    throw tooSlow(conversationMs)
  })
}

function tooSlow(conversationMs: number): Error {
  const message = `The conversation took longer than ${conversationMs / 1000} s`
  return Object.assign(new Error(message), { code: 'EABORT' })
}

/** Asks the server whether it takes addresses with letters beyond ASCII before the «@» (RFC 6531). */
export async function offersSmtpUtf8(relay: Relay, conversationMs?: number): Promise<boolean> {
  let isOffered = false
  await verifySmtp(relay, {
    ...(conversationMs !== undefined && { conversationMs }),
    onEntry({ tnx }, message) {
      if (tnx === 'server' && /^250[ -]SMTPUTF8\b/im.test(message)) isOffered = true
    },
  })
  return isOffered
}
