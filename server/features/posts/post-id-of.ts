import type { Endpoint } from '../../../contract/endpoint.ts'

/** Returns the id of the post that a call has published or is about. */
export function postIdOf(
  { path }: Endpoint,
  params: unknown,
  answered: unknown,
): string | undefined {
  const hasId = typeof answered === 'object' && answered !== null && 'id' in answered
  if (hasId && path.startsWith('/posts')) return String(answered.id)
  return /posts\/:id/.test(path) ? (params as { id: string }).id : undefined
}
