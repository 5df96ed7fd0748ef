import type { Charge, Limit } from '../limits/limits.ts'

const FIVE_MINUTES = 300

export const VISITOR_CALLS: Limit = {
  name: 'visitor-call',
  rates: [[3000, FIVE_MINUTES]],
  refusal: 'Из вашей сети слишком много запросов: следующий — через {time}',
}

/** Separate, so that visitors who read too much keep nobody of their network from a new token. */
export const COOKIE_CALLS: Limit = { ...VISITOR_CALLS, name: 'cookie-call' }

const USER_CALLS: Limit = {
  name: 'user-call',
  rates: [[1500, FIVE_MINUTES]],
  refusal: 'От вас слишком много запросов: следующий — через {time}',
}

/** Allows the first visits of 300 people at one address, 20 files each, and half as many again. */
export const PAGE_FILES: Limit = {
  name: 'page-file',
  rates: [[9000, FIVE_MINUTES]],
  refusal: 'Из вашей сети слишком много запросов: следующий — через {time}',
}

export const MADE_PAGES: Limit = {
  name: 'made-page',
  rates: [[300, 60]],
  refusal: 'Из вашей сети открывают слишком много страниц: следующая — через {time}',
}

/** Returns the charge of any call or cached read: of the viewer, or of a visitor's network. */
export function callCharge(viewer: { userId: string } | null, ip: string | undefined): Charge {
  return viewer ? { limit: USER_CALLS, key: viewer.userId } : { limit: VISITOR_CALLS, ip }
}
