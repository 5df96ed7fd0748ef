import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Broken = {
  /** What the line of the rule becomes; by default it is removed. */
  instead?: string
  /** The assertion that fails without the rule. */
  fails: string
}

const NEVER = 'some none'

const DOOR: Record<string, Broken> = {
  'a code is read in its mailbox': { fails: 'NothingOpensForStrangers' },
  'a code signs in to the account that has its address now': { fails: 'UndoEndsTheTheft' },
  'signing in restores a deleted account': { instead: "Deleted' = Deleted", fails: 'MailboxOpens' },
  'a redeemed code repeats its answer': { instead: NEVER, fails: 'MailboxOpens' },
  'the link goes to the old address': {
    instead: "old' = old + d->Account.email'",
    fails: 'StolenSessionKeepsThreeDays',
  },
  'a link ends no sooner than later ones': {
    instead: "left' = left + d->Three",
    fails: 'StolenSessionKeepsThreeDays',
  },
  'an undo gives the links of before three more days': {
    instead: "left' = left - ended->Days",
    fails: 'StolenSessionKeepsThreeDays',
  },
  'the link has a secret': { fails: 'NothingOpensForStrangers' },
  'an undo closes every session': { instead: 'sessionsStay', fails: 'UndoEndsTheTheft' },
  'an undo ends later changes': { instead: 'ended = d {', fails: 'UndoEndsTheTheft' },
  'an undo repeats its answer': { instead: NEVER, fails: 'LinkOpens' },
  'a deletion needs an open session': { fails: 'StolenSessionErasesNothing' },
  'an undo restores a deleted account': {
    instead: "Deleted' = Deleted",
    fails: 'StolenSessionErasesNothing',
  },
  'an account is erased later than any link ends': { fails: 'StolenSessionErasesNothing' },
  'the secret before works until the new one was seen': { fails: 'LostAnswersKeepTheSession' },
  'an undo removes the passkeys added since': {
    instead: 'taken = none {',
    fails: 'UndoTakesThePasskeys',
  },
  'an undo returns the passkeys removed since': {
    instead: 'let returned = none,',
    fails: 'UndoReturnsThePasskeys',
  },
  'an added passkey can be undone': { instead: "adds' = adds", fails: 'UndoTakesThePasskeys' },
  'a removed passkey can come back': {
    instead: "removes' = removes",
    fails: 'StolenSessionTakesNoPasskey',
  },
  'the operator is sure who asks': { fails: 'NothingOpensForStrangers' },
}

const WAITING: Record<string, Broken> = {
  'known browsers have mails of their own': { fails: 'KnownBrowsersNeverWait' },
  'the last mail is kept for new networks': { fails: 'ThreeNetworksDelayForAnHour' },
}

/** The models, with their rules. */
export const MODELS = [
  { file: 'door.als', rules: DOOR },
  { file: 'waiting.als', rules: WAITING },
].map((model) => ({
  ...model,
  text: readFileSync(join(import.meta.dirname, model.file), 'utf8'),
}))

const LINE = /^.* -- rule: (.*)$/gm

export function rulesIn(model: string): string[] {
  return [...model.matchAll(LINE)].map(([, rule = '']) => rule)
}

/** Returns a model in which the line of a rule is another, or missing. */
export function withoutRule(model: string, rule: string, instead = ''): string {
  return model.replaceAll(LINE, (line, name) => (name === rule ? instead : line))
}
