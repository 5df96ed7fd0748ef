const NOTHING_THERE = 'a default that is never read, or that finds nothing, like any other value'
const INSTANT = 'differs only at one instant, which no test can meet'
const SLOWER = 'the same result, only slower'

/**
 * Mutants that no test notices, by group and reason. `npm run test:mutants` prints them, and fails
 * for an entry that is noticed or gone.
 */
export const NAMED_MUTANTS: Record<string, Record<string, string[]>> = {
  contract: {
    [NOTHING_THERE]: [
      'contract/pages.ts: const [, username, replies] = AUTHOR_PATH.exec(plain) ?? ⟦[] → ["Stryker was here"]⟧',
      `contract/pages.ts: return ⟦'' → "Stryker was here!"⟧`,
    ],
  },
  caches: {
    'the needless change finds nothing, or leaves everything the same': [
      'web/posts/cache/list-cache.ts: if (⟦repliedId → true⟧) changePost(client, repliedId, withOneReplyLess)',
    ],
    'an answer that contains a post twice has the same content in both places': [
      'web/posts/cache/post-cache.ts: const post = old === undefined || ⟦version >= versions.post → version > versions.post⟧ ? answered : old',
      'web/posts/cache/post-cache.ts: const newer = ⟦version >= versions.likes → version > versions.likes⟧ ? answered : old',
    ],
    'a hook by which components show posts; journeys test it': [
      'web/posts/cache/post-cache.ts: export function usePost(id: string): CachedPost | null | undefined ⟦{ return useQuery<CachedPost | null>({ queryKey: postKey(id… → {}⟧',
      'web/posts/cache/post-cache.ts: return useQuery<CachedPost | null>(⟦{ queryKey: postKey(id), queryFn: skipToken, ...LIFETIME } → {}⟧)',
    ],
  },
  codes: {
    'cannot happen unless the database fails': [
      'server/features/codes/codes.service.ts: let isWrong = ⟦false → true⟧',
    ],
    'noticed by tests outside the group: of devices, and mail-name.test.ts, which changes the working folder as no thread of Stryker can':
      [
        'server/features/codes/codes.service.ts: isToNewAddress: start.isToNewAddress ?? ⟦false → true⟧,',
        'server/features/codes/codes.service.ts: device: ⟦start.device ?? null → start.device && null⟧,',
        'server/features/codes/codes.service.ts: isToNewAddress: ⟦start.isToNewAddress ?? false → start.isToNewAddress && false⟧,',
      ],
    'the count of attempts refuses the code too': [
      "server/features/codes/codes.service.ts: if (⟦!canBeRight → false⟧) throw new AppError('MAX_CONFIRM_ATTEMPTS')",
    ],
  },
  sessions: {
    [NOTHING_THERE]: [
      `server/features/sessions/authenticator.ts: const [userId = ⟦'' → "Stryker was here!"⟧, sessionId = '', expiresAt = ''] = token.split('.')`,
      `server/features/sessions/authenticator.ts: const [userId = '', sessionId = ⟦'' → "Stryker was here!"⟧, expiresAt = ''] = token.split('.')`,
      `server/features/sessions/authenticator.ts: const [userId = '', sessionId = '', expiresAt = ⟦'' → "Stryker was here!"⟧] = token.split('.')`,
      `server/features/sessions/cookie.ts: const [, id, secret] = FORMAT.exec(value ?? ⟦'' → "Stryker was here!"⟧) ?? []`,
      `server/features/sessions/cookie.ts: const [, id, secret] = FORMAT.exec(value ?? '') ?? ⟦[] → ["Stryker was here"]⟧`,
      'server/features/sessions/cookie.ts: return ⟦id && secret → true⟧ ? { id, secret } : null',
      'server/features/sessions/cookie.ts: return ⟦id && secret → id || secret⟧ ? { id, secret } : null',
      'server/features/sessions/sessions.repository.ts: const sessions: (StoredSession | null)[] = viewers.map(⟦() => null → () => undefined⟧)',
    ],
    [SLOWER]: [
      'server/features/sessions/authenticator.ts: this.#wereLive.set(viewer.sessionId, ⟦true → false⟧)',
      'server/features/sessions/authenticator.ts: if (⟦claims → true⟧) this.#known.set(token, claims)',
      'server/features/sessions/authenticator.ts: if (⟦claims → false⟧) this.#known.set(token, claims)',
      'server/features/sessions/authenticator.ts: if (claims) ⟦this.#known.set(token, claims) → ;⟧',
      'server/features/sessions/authenticator.ts: wasLive({ sessionId }: Viewer): boolean ⟦{ return this.#wereLive.has(sessionId) } → {}⟧',
    ],
    [INSTANT]: [
      'server/features/sessions/refresh.service.ts: const inGrace = ⟦session.secret_age <= GRACE_SECONDS → session.secret_age < GRACE_SECONDS⟧',
      'server/features/sessions/refresh.service.ts: const isDue = isCurrent ? ⟦session.secret_age > ROTATE_AFTER_SECONDS → session.secret_age >= ROTATE_AFTER_SECONDS⟧ : !inGrace',
      'server/features/sessions/authenticator.ts: return claims && ⟦left > 0 → left >= 0⟧ && left <= longest ? claims.viewer : null',
    ],
    'read only after a session has had an earlier secret': [
      'server/features/sessions/sessions.repository.ts: seen: ⟦true → false⟧,',
    ],
    'created with the app that the tests of the group share, so that no test is known to cover it':
      [
        'server/features/sessions/sessions.routes.ts: route(closeOtherSessions, ⟦({ viewer }) => deleteOtherSessions(db, viewer) → () => undefined⟧)',
      ],
  },
  limits: {
    [NOTHING_THERE]: [
      `server/kernel/limits/limits.ts: export function parseAddress(text = ⟦'' → "Stryker was here!"⟧): ipaddr.IPv4 | ipaddr.IPv6 | undefined {`,
      `server/kernel/limits/limits.ts: export function networksOf(ip = ⟦'' → "Stryker was here!"⟧): [string, ...string[]] {`,
    ],
    [SLOWER]: ['server/kernel/limits/limits.ts: if (⟦isIPv4(ip) → false⟧) return [ip]'],
  },
}
