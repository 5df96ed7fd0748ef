/** The level of a finding. Only `broken` makes the command fail. */
export type Level = 'ok' | 'warning' | 'broken'

/** The result of one check, in Russian for the operator. */
export type Finding = {
  /** The name of the check, for programs and the log. */
  check: string
  level: Level
  message: string
  fix?: string
}

export function ok(check: string, message: string): Finding {
  return { check, level: 'ok', message }
}

/** Returns a warning about a fault that users do not notice yet. */
export function warning(check: string, message: string, fix: string): Finding {
  return { check, level: 'warning', message, fix }
}

export function broken(check: string, message: string, fix: string): Finding {
  return { check, level: 'broken', message, fix }
}
