/** In a file of its own, since the first script needs nothing else of the queries. */
export const RECEIVED_KEY = ['received'] as const
