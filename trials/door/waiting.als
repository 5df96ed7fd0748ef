/*
 * How long strangers can keep the owner of an account from getting a code.
 *
 * A step is half an hour, in which a mailbox earns one code mail again, up to five (code-quota.ts). Strangers ask
 * first, as often as they may; the owner asks at the end of each step, either in a known browser, or in one that
 * nobody knows and in a network that nobody knows. A network that was mailed stays so: thirty days are longer than
 * any trace.
 *
 * Left out: one mail a minute, the eighteen mails of a day and the requests of a network (code-quota.test.ts), and the
 * five tries of a code, which are its browser's alone (first-browser.test.ts).
 */
module waiting

sig Mail {}
sig Network {}

one sig Mailbox {
  var forStrangers, forKnown: set Mail,
  /** What strangers have left of them when the owner asks. */
  var left, leftToKnown: set Mail,
  var mailed: set Network
}
lone sig Known in Mailbox {}
/** The owner was mailed at the end of the last step. */
var lone sig Served in Mailbox {}

pred earn[left, more: set Mail] { left in more and lone more - left and (left != Mail implies some more - left) }

fact start {
  forStrangers = Mailbox->Mail and forKnown = Mailbox->Mail and no mailed and some Served
}

fun fresh: set Network { Mailbox.mailed' - Mailbox.mailed }

/** A new network takes the last mail, after others have taken those before it. */
pred isTakenByNew { some last: fresh | lone forStrangers or some Mailbox.mailed' - last }

fact halfHours {
  always {
    mailed in mailed'
    left in forStrangers and leftToKnown in forKnown
    leftToKnown = forKnown -- rule: known browsers have mails of their own
    some left or no forStrangers or isTakenByNew -- rule: the last mail is kept for new networks
    Served' = (some (some Known implies leftToKnown else left) implies Mailbox else none)
    earn[Mailbox.left, Mailbox.forStrangers']
    earn[Mailbox.leftToKnown, Mailbox.forKnown']
  }
}

/** Strangers never keep a known browser waiting. */
assert KnownBrowsersNeverWait {
  some Known implies always some Served
}

/** Strangers in three networks keep a new browser in a new network waiting for an hour at most. */
assert ThreeNetworksDelayForAnHour {
  always not (no Served' and after no Served' and after after no Served')
}

check KnownBrowsersNeverWait for exactly 5 Mail, 6 Network, 8..8 steps
check ThreeNetworksDelayForAnHour for exactly 5 Mail, 3 Network, 8..8 steps

/** Four networks can do it for longer: there is no bound that any number of them keeps. */
run FourNetworks {
  eventually (no Served' and after no Served' and after after no Served')
} for exactly 5 Mail, 4 Network, 8..8 steps
