const IDENTIFY_MS = 3000

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Rejects if `read` takes more than 3 s. */
export function withinTime<Result>(read: () => Promise<Result>): Promise<Result> {
  return Promise.race([read(), wait(IDENTIFY_MS).then(() => Promise.reject())])
}
