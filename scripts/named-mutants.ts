const NOTHING_THERE = 'a default that is never read, or that nothing is found by, as by any other'
const INSTANT = 'another answer at one instant only, which no clock is made to meet'
const SLOWER = 'the same, only slower'

/**
 * Mutants that no test notices, by group and by the reason why: `npm run test:mutants` prints both,
 * and fails for whatever stands here in vain.
 */
export const NAMED_MUTANTS: Record<string, Record<string, string[]>> = {
  contract: {
    [NOTHING_THERE]: [
      'contract/pages.ts: const [, username, replies] = AUTHOR_PATH.exec(plain) ?? ⟦[] → ["Stryker was here"]⟧',
      `contract/pages.ts: return ⟦'' → "Stryker was here!"⟧`,
    ],
  },
  caches: {
    [NOTHING_THERE]: [
      'web/posts/cache/list-cache.ts: const [former, ...older] = client.getQueryData<CachedPages>(key)?.pages ?? ⟦[] → ["Stryker was here"]⟧',
      'web/posts/cache/list-cache.ts: const [formerId] = former?.ids ?? ⟦[] → ["Stryker was here"]⟧',
      'web/posts/cache/list-cache.ts: const { pages = ⟦[] → ["Stryker was here"]⟧ } = client.getQueryData<CachedPages>(key) ?? {}',
      `web/posts/cache/list-cache.ts: const isTheirs = (id: string) => authors.includes(readCachedPost(client, id)?.owner.id ?? ⟦'' → "Stryker was here!"⟧)`,
    ],
    'what is changed more than it need be is not there, or is the same afterwards': [
      'web/posts/cache/list-cache.ts: if (⟦repliedId → true⟧) changePost(client, repliedId, withOneReplyLess)',
      'web/posts/cache/list-cache.ts: const prefix = name === undefined ? ⟦[LISTS] → []⟧ : [LISTS, name]',
      "web/posts/cache/list-cache.ts: if (⟦entry !== 'pages' → false⟧) continue",
    ],
    'one answer has a post twice, and both alike': [
      'web/posts/cache/post-cache.ts: const post = old === undefined || ⟦version >= versions.post → version > versions.post⟧ ? answered : old',
      'web/posts/cache/post-cache.ts: const newer = ⟦version >= versions.likes → version > versions.likes⟧ ? answered : old',
    ],
    'a hook, by which components show each post in the tests of e2e': [
      'web/posts/cache/post-cache.ts: export function usePost(id: string): CachedPost | null | undefined ⟦{ return useQuery<CachedPost | null>({ queryKey: postKey(id… → {}⟧',
      'web/posts/cache/post-cache.ts: return useQuery<CachedPost | null>(⟦{ queryKey: postKey(id), queryFn: skipToken, ...LIFETIME } → {}⟧)',
    ],
  },
  limits: {
    [NOTHING_THERE]: [
      `server/kernel/limits/network.ts: export function parseAddress(text = ⟦'' → "Stryker was here!"⟧): ipaddr.IPv4 | ipaddr.IPv6 | undefined {`,
      `server/kernel/limits/network.ts: export function networksOf(ip = ⟦'' → "Stryker was here!"⟧): [string, ...string[]] {`,
      `server/kernel/limits/rate-limits.ts: chargeNetwork(ip = ⟦'' → "Stryker was here!"⟧) {`,
      'server/kernel/limits/rate-limits.ts: const [counters = ⟦[] → ["Stryker was here"]⟧] = widths',
      'server/kernel/limits/rate-limits.ts: (widths[width] ?? ⟦[] → ["Stryker was here"]⟧).map((counter): [Counter, string] => [counter, key]),',
    ],
    [INSTANT]: [
      'server/kernel/limits/gcra.ts: if (newer.size >= GENERATION_MAX || ⟦time - begunAt >= burst * step → time - begunAt > burst * step⟧) {',
      'server/kernel/limits/gcra.ts: return ⟦wait > ROUNDING → wait >= ROUNDING⟧ ? wait : 0',
    ],
    [SLOWER]: [
      "server/kernel/limits/rate-limits.ts: const retryAfter = ⟦typeof charged === 'number' → false⟧ ? charged : await charged",
      'server/kernel/limits/network.ts: if (⟦isIPv4(ip) → false⟧) return [ip]',
    ],
    'keys whose events have all passed stay in memory for longer, within its bound': [
      'server/kernel/limits/gcra.ts: if (newer.size >= GENERATION_MAX || ⟦time - begunAt >= burst * step → false⟧) {',
    ],
  },
}
