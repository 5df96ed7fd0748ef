/** `copy` writes rows into a backup, `sum` reads its bytes, `load` loads its rows, `count` compares counters. */
export type Step = 'copy' | 'sum' | 'load' | 'count' | 'pages'

/** Reports how much of a step is done; `total` is an estimate, or 0 if nothing is known. */
export type Progress = (step: Step, done: number, total: number) => void

/** The time between two lines in a log. */
export const LINE_MS = 60_000

/** Returns the whole percents that are done; less than 100, because the total is an estimate. */
export const percentOf = (done: number, total: number): number =>
  Math.floor(Math.min(0.99, done / total) * 100)

/** Returns a Progress that writes one line a minute into the log, and none for short work. */
export function logProgress(
  log: { info: (facts: object, message: string) => void },
  message: string,
): Progress {
  let shownAt = performance.now()
  return (step, done, total) => {
    if (performance.now() - shownAt < LINE_MS || total === 0) return
    shownAt = performance.now()
    log.info({ step, percent: percentOf(done, total) }, message)
  }
}
