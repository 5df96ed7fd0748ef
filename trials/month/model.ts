import type { Device } from './device.ts'

/** What a person has done, by the answers of the server. Times are those of the driver's clock. */
export type Person = {
  n: number
  email: string
  ip: string
  isSpammer: boolean
  id: string | undefined
  name: string | undefined
  registeredAt: number
  devices: Device[]
  posts: string[]
  /** The newest reply that is marked as seen. */
  seen: number
  formerEmails: string[]
  formerNames: string[]
  blockedAt: number
  /** 0 if the person is not blocked. */
  blockedUntil: number
  deletedAt: number | undefined
  /** Whether the operator has erased the account, at once. */
  isErased: boolean
  returnsAt: number | undefined
  returnedAt: number
  /** Whether a deletion or a change of the e-mail had no answer, so that either may be true. */
  isUnsure: boolean
  /** Whether the first registration has ended, with whatever outcome. */
  hasCome: boolean
  /** Whether the person is doing something. */
  isActing: boolean
}

export type Post = {
  id: string
  owner: number
  /** What it may say: several if an edit had no answer. */
  texts: string[]
  at: number
  reporters: Set<number>
  /** Whether a moderator has kept it, after which reports of the same text change nothing. */
  isKept: boolean
  wasDecided: boolean
  deletedAt: number | undefined
  removedAt: number | undefined
  /** The text of the author's appeal to the last removal, and what became of it. */
  appeal: { text: string; state: 'open' | 'refused' | 'granted' } | undefined
  /** Whether a call that hides or shows it had no answer. */
  isUnsure: boolean
  /** Whether a call about it is in flight: no other is sent, so that their order is known. */
  isBusy: boolean
}

export type Like = { state: boolean | 'unsure'; isBusy: boolean }

export type Attempt = { owner: number; state: 'sent' | 'published' | 'refused'; at: number }

export type Report = {
  postId: string
  by: number
  at: number
  /** When a decision has closed it. */
  closedAt: number | undefined
  isJudged: boolean
}

export type AskedCode = {
  email: string
  steadyAt: number
  wasWell: boolean
  hasCome: boolean
  isReported: boolean
}

export type ExpectedMail = { to: string; subject: string; steadyAt: number; isReported: boolean }

/** A ban of registrations from a mail domain, or of everything from a network. */
export type Ban = { kind: 'domain' | 'network'; value: string; until: number }

type Stored = Pick<
  Model,
  'people' | 'posts' | 'gone' | 'likes' | 'attempts' | 'reports' | 'moderators' | 'bans'
>

/** What each acknowledged call must have led to. */
export class Model {
  people: Person[] = []
  posts = new Map<string, Post>()
  /** Posts whose rows are gone, as they must be. */
  gone: Post[] = []
  /** By `person post`. */
  likes = new Map<string, Like>()
  /** Publications by their texts, each of which is unique. */
  attempts = new Map<string, Attempt>()
  reports: Report[] = []
  /** The numbers of those who are moderators. */
  moderators: number[] = []
  bans: Ban[] = []

  /** Ids of posts that a former release has left. */
  history = new Set<string>()

  // What no backup contains:
  codes: AskedCode[] = []
  mails: ExpectedMail[] = []
  /** When each address got the last mail about replies. */
  replyMails = new Map<string, number>()
  /** The numbers of texts and devices that were made. */
  texts = 0
  devices = 0

  owner(post: Post): Person {
    return this.person(post.owner)
  }

  person(n: number): Person {
    const person = this.people[n]
    if (!person) throw new Error(`There is no person ${n}.`)
    return person
  }

  /** Returns people who have an account that is not deleted. */
  members(): Person[] {
    return this.people.filter(({ id, deletedAt }) => id !== undefined && deletedAt === undefined)
  }

  /** Returns people who may do something: also those without an account, who register anew. */
  active(): Person[] {
    return this.people.filter(({ hasCome, isActing, deletedAt }) => {
      return hasCome && !isActing && deletedAt === undefined
    })
  }

  addPerson(person: Pick<Person, 'email' | 'ip' | 'isSpammer'>): Person {
    const added: Person = {
      ...person,
      ...{ n: this.people.length, id: undefined, name: undefined, registeredAt: 0, devices: [] },
      ...{ posts: [], seen: 0, formerEmails: [], formerNames: [], blockedAt: 0, blockedUntil: 0 },
      ...{ deletedAt: undefined, isErased: false, returnsAt: undefined, returnedAt: 0 },
      ...{ isUnsure: false, hasCome: false, isActing: false },
    }
    this.people.push(added)
    return added
  }

  addPost(post: Pick<Post, 'id' | 'owner' | 'at'> & { text: string }): Post {
    const { text, ...rest } = post
    const added: Post = {
      ...{ ...rest, texts: [text], reporters: new Set(), isKept: false, wasDecided: false },
      ...{ deletedAt: undefined, removedAt: undefined, appeal: undefined },
      ...{ isUnsure: false, isBusy: false },
    }
    this.posts.set(post.id, added)
    this.person(post.owner).posts.push(post.id)
    return added
  }

  /** Returns what a backup of this moment contains. */
  copy(): Stored {
    const { people, posts, gone, likes, attempts, reports, moderators, bans } = this
    return structuredClone({ people, posts, gone, likes, attempts, reports, moderators, bans })
  }

  /**
   * Takes everything back to a copy, as a restore does, except what browsers store and which
   * accounts are deleted.
   */
  restore(copy: Stored): void {
    const now = this.people
    Object.assign(this, structuredClone(copy))
    this.people = now.map((person) => restorePerson(person, copy.people[person.n]))
    this.mails = []
    this.codes = []
    this.replyMails.clear()
  }
}

function restorePerson(now: Person, then: Person | undefined): Person {
  const { deletedAt, isErased, returnsAt, returnedAt, devices } = now
  const kept = {
    devices,
    deletedAt,
    isErased,
    returnsAt,
    returnedAt,
    isUnsure: now.isUnsure,
    hasCome: true,
    isActing: false,
  }
  const isGone = then?.id === undefined
  const unknown = { posts: [], id: undefined, name: undefined, seen: 0, blockedUntil: 0 }
  const restored = { ...now, ...(isGone ? unknown : structuredClone(then)), ...kept }
  if (isGone) Object.assign(restored, { deletedAt: undefined, returnsAt: undefined })
  for (const device of devices) restoreDevice(device, { then, isLeft: deletedAt !== undefined })
  return restored
}

/** A session made since the backup is gone, and one that was closed since is open again. */
function restoreDevice(
  now: Device,
  { then, isLeft }: { then?: Person | undefined; isLeft: boolean },
) {
  const before = then?.devices.find(({ n }) => n === now.n)
  const isSame = before?.isSignedIn && before.signedInAt === now.signedInAt
  if (isLeft) now.closedBecause = 'the account is deleted'
  else now.closedBecause = isSame ? before.closedBecause : 'it is newer than the backup'
}
