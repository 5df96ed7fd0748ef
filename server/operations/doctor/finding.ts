/** How well one thing is. Only a broken one makes the command fail. */
export type Level = 'ok' | 'warning' | 'broken'

/** What a check has found, in Russian for the operator. */
export type Finding = {
  /** The name of the check, for programs and the log. */
  check: string
  level: Level
  says: string
  /** What to do about it; undefined where all is well. */
  mend?: string
}

/** Returns a finding of something that is well. */
export function well(check: string, says: string): Finding {
  return { check, level: 'ok', says }
}

/** Returns a finding of something to look at, which people do not feel yet. */
export function warning(check: string, says: string, mend: string): Finding {
  return { check, level: 'warning', says, mend }
}

/** Returns a finding of something that does not work. */
export function broken(check: string, says: string, mend: string): Finding {
  return { check, level: 'broken', says, mend }
}
