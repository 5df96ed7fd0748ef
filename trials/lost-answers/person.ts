import { setTimeout as delay } from 'node:timers/promises'
import type { Locator, Page } from 'playwright-core'
import { whenScriptsRun } from '../../e2e/testing/when-scripts-run.ts'
import type { LossyProxy } from './lossy-proxy.ts'

/** What the product says while no answer comes. */
export const NO_ANSWER = /Сервер (?:долго )?не отвечает|Нет связи|ждёт связи/

/** A busy machine may take so long. */
const PATIENCE_MS = 20_000
const RELOADED_MS = 5000
const LOOK_EVERY_MS = 50
/**
 * What is seen, and an offer, count only if they stay for four looks: a tap shows before its answer,
 * and some offers show for a moment.
 */
const LOOKS = 4

type Seen = Locator | (() => Promise<boolean>)

/** Does what a page offers until it has worked: presses «Повторить», the same button, or reloads. */
export class Person {
  readonly page: Page
  readonly #proxy: LossyProxy
  /** What was done besides the flow. */
  readonly resorts: string[] = []

  constructor(page: Page, proxy: LossyProxy) {
    this.page = page
    this.#proxy = proxy
  }

  /** Acts until `seen` shows. After an error, `again` is done, by default the same. */
  async does(act: () => Promise<unknown>, seen: Seen, again = act): Promise<void> {
    let next = act
    for (let tries = 0; tries < 4; tries++) {
      const outcome = await next().then(
        () => this.#outcome(seen, tries),
        (error) => `stuck: ${String(error).split('\n', 1)[0]}`,
      )
      if (outcome === 'seen') return
      this.resorts.push(outcome)
      if (outcome === 'offer') next = () => this.#press()
      else if (outcome === 'error') next = again
      else next = () => this.#reload(act, seen)
    }
    throw new Error(`Never seen, after: ${this.resorts.join(', ')}`)
  }

  /** Presses what a read that has failed offers. */
  async finish(): Promise<void> {
    if ((await this.#offer().count()) === 0) return
    this.resorts.push('offer')
    await this.#press()
  }

  /** Presses what is offered, unless the page itself has repeated the read by now. */
  async #press(): Promise<void> {
    await this.#offer()
      .first()
      .click({ timeout: 1000 })
      .catch(() => {})
  }

  async #reload(act: () => Promise<unknown>, seen: Seen): Promise<unknown> {
    await this.page.reload()
    await whenScriptsRun(this.page)
    const until = Date.now() + RELOADED_MS
    while (Date.now() < until) {
      if (await isSeen(seen)) return
      await delay(LOOK_EVERY_MS)
    }
    return act()
  }

  #offer(): Locator {
    return this.page.locator('button:visible:not([aria-busy=true])', { hasText: /^Повторить$/ })
  }

  #error(): Locator {
    const said = this.page.locator('[role=alert]:visible, [role=status]:visible')
    return said.filter({ hasText: NO_ANSWER })
  }

  async #outcome(seen: Seen, tries: number): Promise<string> {
    const until = Date.now() + PATIENCE_MS
    let looks = 0
    let offers = 0
    while (Date.now() < until) {
      looks = this.#proxy.isIdle() && (await isSeen(seen)) ? looks + 1 : 0
      if (looks === LOOKS) return 'seen'
      if (looks === 0) {
        offers = (await this.#offer().count()) > 0 ? offers + 1 : 0
        if (offers === LOOKS) return 'offer'
        // The words of the first failure may stay for a moment.
        if (tries === 0 && (await this.#error().count()) > 0) return 'error'
      }
      await delay(LOOK_EVERY_MS)
    }
    return 'nothing'
  }
}

function isSeen(seen: Seen): Promise<boolean> {
  return typeof seen === 'function' ? seen() : seen.first().isVisible()
}
