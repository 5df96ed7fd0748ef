/** The key of a SearchState. The first script needs it; the rest of the search comes later. */
export function searchStateKey(entryKey: string) {
  return ['search-state', entryKey] as const
}
