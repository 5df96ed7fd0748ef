import { judgeMachine } from './judge-machine.ts'
import { MailJudge } from './judge-mails.ts'
import { judgePeople, resolveUnsure } from './judge-people.ts'
import { judgePosts } from './judge-posts.ts'
import { PrivacyJudge } from './judge-privacy.ts'
import type { World } from './world.ts'

/** Compares the wall with the model at the end of each day. */
export class Judge {
  readonly #world: World
  readonly #mails: MailJudge
  readonly #privacy: PrivacyJudge
  readonly #keep: number

  constructor(world: World, keep: number) {
    this.#world = world
    this.#mails = new MailJudge(world)
    this.#privacy = new PrivacyJudge(world)
    this.#keep = keep
  }

  /** Returns what the day's line shows. */
  async judge(mustHave: boolean): Promise<Record<string, unknown>> {
    const world = this.#world
    await resolveUnsure(world)
    const posts = await judgePosts(world)
    await judgePeople(world)
    return {
      ...posts,
      mails: this.#mails.judge(),
      ...(await this.#privacy.judge()),
      ...(await judgeMachine(world, { keep: this.#keep, mustHave })),
    }
  }
}
