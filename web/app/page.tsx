import type { ComponentType } from 'react'
import { Loading } from '../ui/loading.tsx'
import type { Part } from '../ui/part.ts'
import { usePart } from '../ui/use-part.ts'
import { PageFailure, reloadIfPossible } from './page-failure.tsx'

/** A page that is a part of its own: fetched when one comes to it, and again at each coming until it is there. */
export function Page({ part }: { part: Part<ComponentType> }) {
  const { content: Content, failed, retry } = usePart(part)

  async function tryAgain(): Promise<void> {
    // Some browsers remember that a script failed, and a release may have taken it away: only a reload helps then.
    if (!(await retry())) await reloadIfPossible()
  }

  if (Content) return <Content />
  return failed ? <PageFailure onRetry={tryAgain} /> : <Loading label="Загружаем страницу" />
}
