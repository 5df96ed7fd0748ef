/** In its own file, because the first script needs this key, but not the queries. */
export function searchStateKey(entryKey: string) {
  return ['search-state', entryKey] as const
}
