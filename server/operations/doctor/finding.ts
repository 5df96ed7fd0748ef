/** How well one thing is. Only a broken one makes the command fail. */
export type Level = 'ok' | 'warning' | 'broken'

/** What a check has found, in Russian for the operator. */
export type Finding = {
  /** The name of the check, for programs and the log. */
  check: string
  level: Level
  message: string
  /** What to do about it; undefined where all is well. */
  fix?: string
}

/** Returns a finding of something that is well. */
export function ok(check: string, message: string): Finding {
  return { check, level: 'ok', message }
}

/** Returns a finding of something to look at, which people do not feel yet. */
export function warning(check: string, message: string, fix: string): Finding {
  return { check, level: 'warning', message, fix }
}

/** Returns a finding of something that does not work. */
export function broken(check: string, message: string, fix: string): Finding {
  return { check, level: 'broken', message, fix }
}
