/** The level of a finding. Only `broken` makes the command fail. */
export type Level = 'ok' | 'warning' | 'broken'

/** The result of one check, in Russian for the operator. */
export type CheckResult = { level: Level; message: string; fix?: string }

/** A verdict with the name of its check, for programs and the log. */
export type Finding = CheckResult & { check: string }

export function ok(message: string): CheckResult {
  return { level: 'ok', message }
}

/** Returns a warning about a fault that users do not notice yet. */
export function warning(message: string, fix: string): CheckResult {
  return { level: 'warning', message, fix }
}

export function broken(message: string, fix: string): CheckResult {
  return { level: 'broken', message, fix }
}

type Checks = Record<string, Promise<CheckResult | undefined> | CheckResult | undefined>

/** Waits for checks, which are listed by their names. Leaves out those without a verdict. */
export async function findingsOf(checks: Checks): Promise<Finding[]> {
  const findings = Object.entries(checks).map(async ([check, checking]) => {
    const verdict = await checking
    return verdict ? [{ check, ...verdict }] : []
  })
  return (await Promise.all(findings)).flat()
}
