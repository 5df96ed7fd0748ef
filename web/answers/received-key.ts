/** In its own file, because the first script needs the key, but not the queries. */
export const RECEIVED_KEY = ['received'] as const
