/*
 * The door: who gets into one account, and who stays outside.
 *
 * Each predicate under «Calls» is a call of contract/ with the same name, seen from one account: first what the server
 * requires, then what it stores. A line that ends in `-- rule: NAME` is a rule of the server. door.test.ts breaks one
 * rule after the other, and demands that the assertion that needs it fails.
 *
 * Time is coarse. In a step no time passes, except: `minutesPass` is a quarter of an hour, after which codes, access
 * tokens and repetitions have ended and the secrets of sessions are due; `dayPasses` also takes a day from each link.
 * Fourteen days until an erasure are «longer than any link».
 *
 * Left out: wrong codes and limits (waiting.als), the oldest of eleven sessions, sessions that expire, usernames.
 */
module door
open util/ordering[Change] as number

// Who and what

enum Answer { Answered, Lost }
enum Purpose { Login, Registration, EmailChange, AccountDeletion }
enum Days { One, Two, Three }

abstract sig Address {}
one sig Home, Second, Foreign extends Address {}

abstract sig Person {
  reads: set Address,
  var token: set Session,
  /** Cookies: of the current secret, of the one before, and of an older one. */
  var current, previous, older: set Session,
  /** Codes that can be redeemed, and those of which the browser knows the operation's id. */
  var asked, known: Purpose -> Address,
  /** The last code of each purpose that was redeemed within two minutes, and the session that it opened. */
  var redeemed: Purpose -> Address,
  var opened: Purpose -> Session
}
one sig Owner, Thief extends Person {}

sig Session {}
/** The current secret of a `Seen` session was presented; that of a `Due` one is older than ten minutes. */
var sig Open, Seen, Due in Session {}

one sig Account {
  var email: one Address,
  /** Addresses that other accounts have. */
  var elsewhere: set Address
}
var sig Deleted, Erased in Account {}

/** A row of email_changes, of the e-mail or of passkeys. Its link stands in a mail to the address before it. */
sig Change {
  var old: lone Address,
  var left: lone Days,
  var adds, removes: set Passkey
}
var sig Undone in Change {}

/** A passkey on a device of somebody's. */
sig Passkey { on: one Person }
var sig Stored in Passkey {}

enum Call {
  startLogin, verifyLogin, startRegistration, verifyRegistration,
  startEmailChange, verifyEmailChange, undoEmailChange,
  startAccountDeletion, verifyAccountDeletion,
  refreshSession, closeSession, closeOtherSessions, closeCurrentSession,
  addPasskey, signInWithPasskey, removePasskey,
  // No calls: the operator's commands, somebody's other account, a job, the clock
  operatorSignsOut, operatorChangesEmail, otherAccountMoves, erase, minutesPass, dayPasses, nothing
}

/** What happens in a step. */
one sig Step {
  var call: one Call,
  var by: lone Person,
  var with: lone Session,
  var about: lone Session + Address + Change + Passkey,
  var answer: lone Answer
}
pred step[c: Call, p: lone Person, s: lone Session, x: lone univ, w: lone Answer] {
  Step.call = c and Step.by = p and Step.with = s and Step.about = x and Step.answer = w
}

/** Each of the two may hold sessions of the account, also the same ones. */
fact start {
  Owner.reads in Home + Second
  Thief.reads = Foreign
  Account.email = Home
  no elsewhere and no Deleted and no Erased
  no asked and no known and no redeemed and no opened
  no old and no left and no Undone and no adds and no removes
  Stored in on.Owner
  token in current and no previous and no older
  Open = Person.current and Seen = Open and Due = Open
}

fun live: set Change { left.Days }

// What a step leaves as it is

pred addressStays { email' = email and elsewhere' = elsewhere }
pred accountStays { addressStays and Deleted' = Deleted and Erased' = Erased }
pred codesStay { asked' = asked and known' = known and redeemed' = redeemed and opened' = opened }
pred changedPasskeysStay { adds' = adds and removes' = removes }
pred changesStay { old' = old and left' = left and Undone' = Undone and changedPasskeysStay }
pred passkeysStay { Stored' = Stored }
pred sessionsStay {
  Open' = Open and Seen' = Seen and Due' = Due and token' = token
  current' = current and previous' = previous and older' = older
}

// Parts of calls

/** A repeated start finds the same operation. */
pred ask[p: Person, u: Purpose, a: Address, w: Answer] {
  asked' = asked + p->u->a
  known' = (w = Answered implies known + p->u->a else known)
  redeemed' = redeemed - p->u->a
  opened' = (p->u->a in redeemed implies opened - p->u->Session else opened)
}

pred mayRedeem[p: Person, u: Purpose, a: Address] {
  p->u->a in asked
  p->u->a in known
  a in p.reads -- rule: a code is read in its mailbox
}

/** Ends the operation, and others of `ended`. A new session may be an atom that was another session before. */
pred redeem[p: Person, u: Purpose, a: Address, s: set Session, ended: Person -> Purpose -> Address] {
  asked' = asked - p->u->a - ended
  known' = known - p->u->a - ended
  redeemed' = redeemed - p->u->Address + p->u->a
  opened' = opened - p->u->Session - Person->Purpose->s + p->u->s
}

fun emailChanges: Person -> Purpose -> Address { Person -> EmailChange -> Address }

/** The answer has a token and sets the cookie, unless it is lost. */
pred receive[p: Person, s: Session, w: Answer] {
  token' = (w = Answered implies token + p->s else token)
  current' = (w = Answered implies current + p->s else current)
  previous' = previous and older' = older
}

pred open_[p: Person, s: Session, w: Answer] {
  s not in Open
  Open' = Open + s and Seen' = Seen + s and Due' = Due - s
  receive[p, s, w]
}

pred close[s: set Session] {
  Open' = Open - s and Seen' = Seen - s and Due' = Due - s
  token' = token - Person->s
  current' = current - Person->s and previous' = previous - Person->s and older' = older - Person->s
}

/** The session is open, and the caller has an access token of it. */
pred acts[p: Person, s: Session] {
  s in p.token
  s in Open
}

// Calls: sign-in and registration

pred mayStartLogin[a: Address] {
  a = Account.email
  no Erased
}

pred startLogin[p: Person, a: Address, w: Answer] {
  step[startLogin, p, none, a, w]
  mayStartLogin[a]
  ask[p, Login, a, w]
  accountStays and changesStay and sessionsStay and passkeysStay
}

pred startRegistration[p: Person, a: Address, w: Answer] {
  step[startRegistration, p, none, a, w]
  a not in Account.elsewhere
  ask[p, Registration, a, w]
  accountStays and changesStay and sessionsStay and passkeysStay
}

pred maySignIn[p: Person, u: Purpose, a: Address] {
  mayRedeem[p, u, a]
  no Erased
  a = Account.email -- rule: a code signs in to the account that has its address now
}

pred signIn[p: Person, u: Purpose, a: Address, s: Session, w: Answer] {
  maySignIn[p, u, a]
  open_[p, s, w]
  redeem[p, u, a, s, none->none->none]
  no Deleted' -- rule: signing in restores a deleted account
  addressStays and Erased' = Erased and changesStay and passkeysStay
}

pred mayRepeatSignIn[p: Person, u: Purpose, a: Address, s: Session] {
  p->u->a in redeemed -- rule: a redeemed code repeats its answer
  p->u->s in opened
  a in p.reads
  s in Open
}

pred repeatSignIn[p: Person, u: Purpose, a: Address, s: Session, w: Answer] {
  mayRepeatSignIn[p, u, a, s]
  receive[p, s, w]
  Open' = Open and Seen' = Seen and Due' = Due
  accountStays and codesStay and changesStay and passkeysStay
}

/** A free address becomes another account's. */
pred register[p: Person, a: Address] {
  mayRedeem[p, Registration, a]
  a not in Account.email + Account.elsewhere
  elsewhere' = elsewhere + Account->a
  redeem[p, Registration, a, none, none->none->none]
  email' = email and Deleted' = Deleted and Erased' = Erased
  changesStay and sessionsStay and passkeysStay
}

pred verifyLogin[p: Person, a: Address, s: Session, w: Answer] {
  step[verifyLogin, p, s, a, w]
  signIn[p, Login, a, s, w] or repeatSignIn[p, Login, a, s, w]
}

pred verifyRegistration[p: Person, a: Address, s: lone Session, w: Answer] {
  step[verifyRegistration, p, s, a, w]
  one s implies (signIn[p, Registration, a, s, w] or repeatSignIn[p, Registration, a, s, w])
    else register[p, a]
}

// Calls: change of e-mail

pred mayStartEmailChange[p: Person, s: Session, a: Address] {
  acts[p, s]
  a not in Account.email + Account.elsewhere
}

pred startEmailChange[p: Person, s: Session, a: Address, w: Answer] {
  step[startEmailChange, p, s, a, w]
  mayStartEmailChange[p, s, a]
  ask[p, EmailChange, a, w]
  accountStays and changesStay and sessionsStay and passkeysStay
}

pred mayChangeEmail[p: Person, s: Session, a: Address] {
  mayStartEmailChange[p, s, a]
  mayRedeem[p, EmailChange, a]
}

pred changeEmail[p: Person, s: Session, a: Address, d: Change] {
  mayChangeEmail[p, s, a]
  email' = Account->a
  insertChange[d]
  changedPasskeysStay
  redeem[p, EmailChange, a, none, emailChanges]
  elsewhere' = elsewhere and Deleted' = Deleted and Erased' = Erased
  sessionsStay and passkeysStay
}

pred insertChange[d: Change] {
  no d.old and all e: number/prevs[d] | some e.old
  old' = old + d->Account.email -- rule: the link goes to the old address
  left' = (d + live)->Three -- rule: a link ends no sooner than later ones
  Undone' = Undone
}

pred mayRepeatEmailChange[p: Person, s: Session, a: Address] {
  acts[p, s]
  p->EmailChange->a in redeemed
  a = Account.email
}

pred verifyEmailChange[p: Person, s: Session, a: Address, w: Answer] {
  step[verifyEmailChange, p, s, a, w]
  (some d: Change | changeEmail[p, s, a, d])
  or (mayRepeatEmailChange[p, s, a]
    and accountStays and codesStay and changesStay and sessionsStay and passkeysStay)
}

pred mayUndo[p: Person, d: Change] {
  d in live
  d.old in p.reads -- rule: the link has a secret
  d.old not in Account.elsewhere
}

pred undo[p: Person, d: Change] {
  mayUndo[p, d]
  email' = Account->d.old
  endEmailChange[d]
  close[Open] -- rule: an undo closes every session
  asked' = asked - emailChanges and known' = known - emailChanges
  redeemed' = redeemed and opened' = opened
  undoPasskeys[d + number/nexts[d]]
  no Deleted' -- rule: an undo restores a deleted account
  elsewhere' = elsewhere and Erased' = Erased
}

pred endEmailChange[d: Change] {
  let later = number/nexts[d] & live,
      ended = d + later { -- rule: an undo ends later changes
    old' = old - (ended - d)->Address
    adds' = adds - (ended - d)->Passkey and removes' = removes - (ended - d)->Passkey
    left' = (live - ended)->Three -- rule: an undo gives the links of before three more days
    Undone' = Undone - ended + d
  }
}

/** What was added since is removed, and what was removed since comes back. */
pred undoPasskeys[ended: set Change] {
  let returned = ended.removes, -- rule: an undo returns the passkeys removed since
      taken = ended.adds { -- rule: an undo removes the passkeys added since
    Stored' = Stored + returned - taken
  }
}

pred mayRepeatUndo[p: Person, d: Change] {
  d in Undone -- rule: an undo repeats its answer
  d.old in p.reads
  d.old = Account.email
}

pred undoEmailChange[p: Person, d: Change, w: Answer] {
  step[undoEmailChange, p, none, d, w]
  undo[p, d]
  or (mayRepeatUndo[p, d] and accountStays and codesStay and changesStay and sessionsStay and passkeysStay)
}

// Calls: deletion

pred startAccountDeletion[p: Person, s: Session, w: Answer] {
  step[startAccountDeletion, p, s, none, w]
  acts[p, s]
  ask[p, AccountDeletion, Account.email, w]
  accountStays and changesStay and sessionsStay and passkeysStay
}

pred verifyAccountDeletion[p: Person, s: Session, a: Address, w: Answer] {
  step[verifyAccountDeletion, p, s, a, w]
  acts[p, s] -- rule: a deletion needs an open session
  mayRedeem[p, AccountDeletion, a]
  Deleted' = Account
  close[Open]
  redeem[p, AccountDeletion, a, none, emailChanges]
  addressStays and Erased' = Erased and changesStay and passkeysStay
}

pred erase {
  step[erase, none, none, none, none]
  some Deleted and no Erased
  no live -- rule: an account is erased later than any link ends
  Erased' = Account and Deleted' = none
  no left' and no Undone' and old' = old and changedPasskeysStay
  addressStays and codesStay and sessionsStay and passkeysStay
}

// Calls: sessions

/** The server accepts the current secret, and the one before while its answer may have been lost. */
pred isAccepted[p: Person, s: Session] {
  s in p.current
  or (s in p.previous and s not in Due)
  or (s in p.previous and s not in Seen) -- rule: the secret before works until the new one was seen
}

/** A secret that is not due stays. */
pred touch[p: Person, s: Session, w: Answer] {
  isAccepted[p, s] and s not in Due
  Seen' = (s in p.current implies Seen + s else Seen)
  token' = (w = Answered implies token + p->s else token)
  Open' = Open and Due' = Due and current' = current and previous' = previous and older' = older
}

/** The presented secret becomes the previous one; other copies of either secret get older. */
pred rotate[p: Person, s: Session, w: Answer] {
  isAccepted[p, s] and s in Due
  let cs = current.s, ps = previous.s, lucky = (w = Answered implies p else none),
      presented = (p in cs implies cs else ps), passed = (p in cs implies ps else cs) {
    current' = current - Person->s + lucky->s
    previous' = previous - Person->s + (presented - lucky)->s
    older' = older - lucky->s + (passed - presented)->s
    token' = token + lucky->s
  }
  Seen' = Seen - s and Due' = Due - s and Open' = Open
}

pred refreshSession[p: Person, s: Session, w: Answer] {
  step[refreshSession, p, s, none, w]
  s in Open and s in p.(current + previous + older)
  touch[p, s, w] or rotate[p, s, w] or (not isAccepted[p, s] and close[s])
  accountStays and codesStay and changesStay and passkeysStay
}

pred closeSession[p: Person, s, t: Session, w: Answer] {
  step[closeSession, p, s, t, w]
  acts[p, s] and t in Open - s
  close[t]
  accountStays and codesStay and changesStay and passkeysStay
}

pred closeOtherSessions[p: Person, s: Session, w: Answer] {
  step[closeOtherSessions, p, s, none, w]
  acts[p, s]
  close[Open - s]
  accountStays and codesStay and changesStay and passkeysStay
}

pred closeCurrentSession[p: Person, s: Session, w: Answer] {
  step[closeCurrentSession, p, s, none, w]
  acts[p, s]
  close[s]
  accountStays and codesStay and changesStay and passkeysStay
}

// Calls: passkeys

/** The link to undo it goes to the address that the account has now. */
pred addPasskey[p: Person, s: Session, k: Passkey, w: Answer] {
  step[addPasskey, p, s, k, w]
  acts[p, s]
  k.on = p and k not in Stored + Change.adds + Change.removes
  Stored' = Stored + k
  some d: Change {
    insertChange[d]
    adds' = adds + d->k -- rule: an added passkey can be undone
    removes' = removes
  }
  accountStays and codesStay and sessionsStay
}

pred maySignInWithPasskey[p: Person, k: Passkey] {
  k in Stored and k.on = p
  no Erased
}

pred signInWithPasskey[p: Person, k: Passkey, s: Session, w: Answer] {
  step[signInWithPasskey, p, s, k, w]
  maySignInWithPasskey[p, k]
  open_[p, s, w]
  no Deleted' and Erased' = Erased
  asked' = asked and known' = known and redeemed' = redeemed and opened' = opened - Person->Purpose->s
  addressStays and changesStay and passkeysStay
}

pred removePasskey[p: Person, s: Session, k: Passkey, w: Answer] {
  step[removePasskey, p, s, k, w]
  acts[p, s] and k in Stored
  Stored' = Stored - k
  some d: Change {
    insertChange[d]
    removes' = removes + d->k -- rule: a removed passkey can come back
    adds' = adds
  }
  accountStays and codesStay and sessionsStay
}

// No calls

/** `vslukh user NAME sign-out`; `block` closes the sessions too. */
pred operatorSignsOut {
  step[operatorSignsOut, none, none, none, none]
  close[Open]
  accountStays and codesStay and changesStay and passkeysStay
}

/** `vslukh user NAME email NEW`: its undo returns the passkeys too. */
pred operatorChangesEmail[a: Address] {
  step[operatorChangesEmail, none, none, a, none]
  a not in Account.email + Account.elsewhere
  a in Owner.reads -- rule: the operator is sure who asks
  no Erased
  email' = Account->a
  some d: Change {
    insertChange[d]
    removes' = removes + d->Stored
    adds' = adds
  }
  no Stored'
  close[Open]
  asked' = asked - emailChanges and known' = known - emailChanges
  redeemed' = redeemed and opened' = opened
  elsewhere' = elsewhere and Deleted' = Deleted and Erased' = Erased
}

/** Somebody changes the e-mail of their other account, by the same calls. */
pred otherAccountMoves[p: Person, a: Address] {
  step[otherAccountMoves, p, none, a, none]
  a in p.reads - Account.email - Account.elsewhere
  some from: Account.elsewhere & p.reads | elsewhere' = elsewhere - Account->from + Account->a
  email' = email and Deleted' = Deleted and Erased' = Erased
  codesStay and changesStay and sessionsStay and passkeysStay
}

pred time {
  no asked' and no known' and no redeemed' and no opened' and no token' and no Undone'
  Due' = Open and Open' = Open and Seen' = Seen
  old' = old and current' = current and previous' = previous and older' = older
  accountStays and passkeysStay and changedPasskeysStay
}

pred minutesPass {
  step[minutesPass, none, none, none, none]
  left' = left
  time
}

pred dayPasses {
  step[dayPasses, none, none, none, none]
  left' = left.(Three->Two + Two->One)
  time
}

pred nothing {
  step[nothing, none, none, none, none]
  accountStays and codesStay and changesStay and sessionsStay and passkeysStay
}

fact moves {
  always {
    (some p: Person, a: Address, w: Answer | startLogin[p, a, w] or startRegistration[p, a, w])
    or (some p: Person, a: Address, s: Session, w: Answer | verifyLogin[p, a, s, w] or verifyRegistration[p, a, s, w]
      or startEmailChange[p, s, a, w] or verifyEmailChange[p, s, a, w] or verifyAccountDeletion[p, s, a, w])
    or (some p: Person, a: Address, w: Answer | verifyRegistration[p, a, none, w])
    or (some p: Person, d: Change, w: Answer | undoEmailChange[p, d, w])
    or (some p: Person, s: Session, w: Answer | startAccountDeletion[p, s, w] or refreshSession[p, s, w]
      or closeOtherSessions[p, s, w] or closeCurrentSession[p, s, w])
    or (some p: Person, s, t: Session, w: Answer | closeSession[p, s, t, w])
    or (some p: Person, s: Session, k: Passkey, w: Answer | addPasskey[p, s, k, w] or signInWithPasskey[p, k, s, w]
      or removePasskey[p, s, k, w])
    or (some p: Person, a: Address | otherAccountMoves[p, a]) or (some a: Address | operatorChangesEmail[a])
    or operatorSignsOut or erase or minutesPass or dayPasses or nothing
  }
}

// What is asserted

pred isIn[p: Person] { some p.token & Open }
fun cookies[p: Person]: set Session { p.(current + previous + older) }

/** A thief who has a session of the account, and whose mailboxes are not the owner's. */
pred thief { Owner.reads = Home + Second and Passkey.on in Owner }

/**
 * The owner opens a link that returns the account to a mailbox of theirs, or that removes a passkey of the thief's, before
 * the last day has passed.
 */
pred watchful {
  always ((Account.email in Thief.reads and some live & old.(Owner.reads)
    and (live & old.(Owner.reads)).left = One) implies Step.call != dayPasses)
  always (some (live & left.One & old.(Owner.reads)).adds & Stored & on.Thief implies Step.call != dayPasses)
}

/** Who reads the account's mailbox gets in, also if answers are lost and if the account was deleted. */
assert MailboxOpens {
  always all a: Owner.reads & Account.email | no Erased implies {
    mayStartLogin[a]
    startLogin[Owner, a, Answered] implies after maySignIn[Owner, Login, a]
    startLogin[Owner, a, Lost] implies after mayStartLogin[a]
    all s: Session | verifyLogin[Owner, a, s, Answered] implies after (isIn[Owner] and no Deleted)
    all s: Session | verifyLogin[Owner, a, s, Lost] implies after mayRepeatSignIn[Owner, Login, a, s]
  }
}

/** Nobody else takes the owner's code away, as long as the account keeps its address. */
assert CodeStaysOnesOwn {
  always all a: Address, u: Login + Registration |
    (maySignIn[Owner, u, a] and Step.by != Owner and Step.call not in minutesPass + dayPasses + erase
      and after Account.email = a) implies after maySignIn[Owner, u, a]
}

/** Who holds a session can move the account to a mailbox of their own. */
assert SessionOpens {
  always all s: Session, a: Owner.reads - Account.email - Account.elsewhere | acts[Owner, s] implies {
    mayStartEmailChange[Owner, s, a]
    startEmailChange[Owner, s, a, Answered] implies after mayChangeEmail[Owner, s, a]
    verifyEmailChange[Owner, s, a, Answered] implies after Account.email = a
    verifyEmailChange[Owner, s, a, Lost] implies after mayRepeatEmailChange[Owner, s, a]
  }
}

/** However many answers are lost, a session whose cookie nobody copied stays open. */
assert LostAnswersKeepTheSession {
  always all s: Session, w: Answer | (historically s not in cookies[Thief] and refreshSession[Owner, s, w])
    implies after s in Open
}

/** Who holds a link gets in, unless they have opened another account at the old address: it must move first. */
assert LinkOpens {
  always all d: live | d.old in Owner.reads implies {
    d.old not in Account.elsewhere implies mayUndo[Owner, d]
    all w: Answer | (undoEmailChange[Owner, d, w] and no Erased) implies after mayStartLogin[d.old]
    undoEmailChange[Owner, d, Lost] implies after mayRepeatUndo[Owner, d]
  }
}

/** Who holds a passkey gets in, without any mailbox. */
assert PasskeyOpens {
  always all k: Stored & on.Owner | no Erased implies maySignInWithPasskey[Owner, k]
}

/**
 * When the account passes to a thief who has stolen a session, the owner has a link, and three days for it. A thief
 * keeps an account for good if its owner reads no mail for three days.
 */
assert StolenSessionKeepsThreeDays {
  (thief and watchful) implies always {
    Account.email in Thief.reads implies some live & old.(Owner.reads)
    (Account.email' in Thief.reads - Account.email) implies after some live & old.(Owner.reads) & left.Three
  }
}

/** Only the owner erases the account: their link also takes back a deletion, of which they got no mail. */
assert StolenSessionErasesNothing {
  (thief and watchful) implies
    always (some Erased implies once (Step.call = verifyAccountDeletion and Step.by = Owner))
}

/** A passkey that a thief removes comes back by a link that the owner has for three days. */
assert StolenSessionTakesNoPasskey {
  (thief and watchful) implies always all k: Stored |
    (Step.call = removePasskey and Step.by = Thief and k not in Stored') implies
      after some d: live & left.Three & old.(Owner.reads) | k in (d + number/nexts[d]).removes
}

/** What a link says comes true: passkeys removed since are there again, unless they were added since. */
assert UndoReturnsThePasskeys {
  always all d: live | undo[Owner, d] implies
    (d + number/nexts[d]).removes - (d + number/nexts[d]).adds in Stored'
}

/** The link for an address from before the theft leaves the thief nothing. */
assert UndoEndsTheTheft {
  Owner.reads = Home + Second implies always all d: live, w: Answer |
    (undoEmailChange[Owner, d, w] and undo[Owner, d] and no (live & old.(Thief.reads) & number/prevs[d]))
      implies after always not isIn[Thief]
}

/** After an undo the owner has a link for every passkey of the thief's that is left. */
assert UndoTakesThePasskeys {
  (watchful and Owner.reads = Home + Second and no Stored & on.Thief) implies always all d: live |
    (undo[Owner, d] and no (live & old.(Thief.reads) & number/prevs[d])) implies
      after Stored & on.Thief in (live & left.Three & old.(Owner.reads)).adds
}

/** Who reads none of the mailboxes and has no cookie never gets in, and changes nothing. */
assert NothingOpensForStrangers {
  (no cookies[Thief] and Owner.reads = Home + Second and Passkey.on in Owner) implies always {
    not isIn[Thief]
    Step.by = Thief implies (email' = email and Deleted' = Deleted and Open' = Open)
  }
}

check MailboxOpens for 2 but 0 Passkey, 1 Int, 6..6 steps
check CodeStaysOnesOwn for 2 but 0 Passkey, 1 Int, 6..6 steps
check SessionOpens for 2 but 0 Passkey, 1 Int, 6..6 steps
check LostAnswersKeepTheSession for 2 but 0 Passkey, 1 Int, 6..6 steps
check LinkOpens for 2 but 0 Passkey, 1 Int, 6..6 steps
check PasskeyOpens for 2 but 1 Int, 4..4 steps
check StolenSessionKeepsThreeDays for 2 but 0 Passkey, 1 Int, 10..10 steps
check StolenSessionErasesNothing for 2 but 0 Passkey, 1 Int, 8..8 steps
check StolenSessionTakesNoPasskey for 2 but 1 Int, 6..6 steps
check UndoReturnsThePasskeys for 2 but 1 Int, 5..5 steps
check UndoEndsTheTheft for 2 but 0 Passkey, 1 Int, 9..9 steps
check UndoTakesThePasskeys for 2 but 1 Int, 6..6 steps
check NothingOpensForStrangers for 2 but 0 Passkey, 1 Int, 6..6 steps

// Scenarios: what the model allows. Together they have every call.

run LostAnswers {
  Owner.reads = Home and no Open
  some s: Session | (
    startLogin[Owner, Home, Lost]; startLogin[Owner, Home, Answered]; verifyLogin[Owner, Home, s, Lost];
    verifyLogin[Owner, Home, s, Answered]; minutesPass; refreshSession[Owner, s, Lost]; minutesPass;
    refreshSession[Owner, s, Answered]; closeCurrentSession[Owner, s, Lost]; nothing
  )
} for 2 but 0 Passkey, 1 Int, 10..10 steps

run Theft {
  Owner.reads = Home and no token
  some s: Thief.current & Owner.current, d: Change | (
    refreshSession[Thief, s, Answered]; startEmailChange[Thief, s, Foreign, Lost];
    startEmailChange[Thief, s, Foreign, Answered]; verifyEmailChange[Thief, s, Foreign, Lost];
    verifyEmailChange[Thief, s, Foreign, Answered]; closeOtherSessions[Thief, s, Answered]; dayPasses;
    undoEmailChange[Owner, d, Lost]; undoEmailChange[Owner, d, Answered]; startLogin[Owner, Home, Answered];
    (some t: Session | verifyLogin[Owner, Home, t, Answered]); nothing
  )
} for 2 but 0 Passkey, 1 Int, 12..12 steps

run CopiedCookie {
  no token and one Open
  some s: Thief.current & Owner.current | (
    minutesPass; refreshSession[Owner, s, Lost]; refreshSession[Thief, s, Answered]; minutesPass;
    refreshSession[Thief, s, Answered]; minutesPass; refreshSession[Thief, s, Answered];
    refreshSession[Owner, s, Answered]; nothing
  )
  eventually no Open
} for 2 but 0 Passkey, 1 Int, 9..9 steps

run Deletion {
  Owner.reads = Home
  some s: Owner.token, t: Session | (
    startAccountDeletion[Owner, s, Lost]; startAccountDeletion[Owner, s, Answered];
    verifyAccountDeletion[Owner, s, Home, Answered]; startLogin[Owner, Home, Answered];
    verifyLogin[Owner, Home, t, Answered]; startAccountDeletion[Owner, t, Answered];
    verifyAccountDeletion[Owner, t, Home, Answered]; erase; nothing
  )
} for 2 but 0 Passkey, 1 Int, 9..9 steps

run ThiefDeletes {
  thief and #Open = 1
  some s: Thief.token, d: Change | (
    startEmailChange[Thief, s, Foreign, Answered]; verifyEmailChange[Thief, s, Foreign, Answered];
    startAccountDeletion[Thief, s, Answered]; verifyAccountDeletion[Thief, s, Foreign, Answered]; dayPasses;
    undoEmailChange[Owner, d, Answered]; startLogin[Owner, Home, Answered];
    (some t: Session | verifyLogin[Owner, Home, t, Answered]); nothing
  )
} for 2 but 0 Passkey, 1 Int, 9..9 steps

/** The owner opens another account at the old address; with one mailbox alone the link would be of no use. */
run OtherAccount {
  Owner.reads = Home + Second
  some s: Thief.token, d: Change | (
    startEmailChange[Thief, s, Foreign, Answered]; verifyEmailChange[Thief, s, Foreign, Answered];
    startRegistration[Owner, Home, Answered]; verifyRegistration[Owner, Home, none, Answered];
    otherAccountMoves[Owner, Second]; undoEmailChange[Owner, d, Answered]; nothing
  )
} for 2 but 0 Passkey, 1 Int, 7..7 steps

run ThiefUndoes {
  thief and #Open = 1
  some s: Thief.token & Owner.current, d, e: Change | (
    startEmailChange[Thief, s, Foreign, Answered]; verifyEmailChange[Thief, s, Foreign, Answered]; dayPasses;
    refreshSession[Owner, s, Answered]; startEmailChange[Owner, s, Second, Answered];
    verifyEmailChange[Owner, s, Second, Answered]; dayPasses; dayPasses; undoEmailChange[Thief, e, Answered];
    dayPasses; undoEmailChange[Owner, d, Answered]; nothing
  )
} for 2 but 0 Passkey, 1 Int, 12..12 steps

run ClosedSessions {
  one Open
  some s: Owner.token, t: Session | (
    startRegistration[Owner, Home, Answered]; verifyRegistration[Owner, Home, t, Answered];
    closeSession[Owner, t, s, Answered]; operatorSignsOut; startRegistration[Owner, Home, Lost];
    startRegistration[Owner, Home, Answered]; verifyRegistration[Owner, Home, s, Lost];
    verifyRegistration[Owner, Home, s, Answered]; closeCurrentSession[Owner, s, Answered]; nothing
  )
} for 2 but 0 Passkey, 1 Int, 10..10 steps

run Passkeys {
  Owner.reads = Home and no Stored and one Open
  some s: Owner.token, t: Session, k: on.Owner, d: Change | (
    addPasskey[Owner, s, k, Answered]; signInWithPasskey[Owner, k, t, Answered]; removePasskey[Owner, t, k, Answered];
    undoEmailChange[Owner, d, Answered]; signInWithPasskey[Owner, k, s, Answered]; nothing
  ) and eventually (k in d.removes and Step.call = undoEmailChange)
} for 2 but 1 Int, 6..6 steps

run StolenPasskey {
  Owner.reads = Home and no Stored and one Open
  some s: Thief.token & Owner.current, t: Session, k: on.Thief, d: Change | (
    addPasskey[Thief, s, k, Answered]; startEmailChange[Thief, s, Foreign, Answered];
    verifyEmailChange[Thief, s, Foreign, Answered]; signInWithPasskey[Thief, k, t, Answered];
    undoEmailChange[Owner, d, Answered]; nothing
  ) and eventually (k in d.adds and Step.call = undoEmailChange)
} for 2 but 1 Int, 6..6 steps

run LostMailbox {
  Owner.reads = Second and one Open and no Owner.token
  some s: Session | (
    operatorChangesEmail[Second]; startLogin[Owner, Second, Answered]; verifyLogin[Owner, Second, s, Answered]; nothing
  )
} for 2 but 0 Passkey, 1 Int, 4..4 steps
