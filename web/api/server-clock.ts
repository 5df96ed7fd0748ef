let offsetSeconds = 0

/** Sets the difference between this machine's clock and the server's from the Date header of an uncached answer. */
export function setServerClock(headers: Headers, now: number = Date.now()): void {
  const date = Date.parse(headers.get('date') ?? '')
  if (Number.isFinite(date)) offsetSeconds = (date - now) / 1000
}

/** The server's time in unix seconds, correct to about a second even where the machine's clock is hours off. */
export function serverNow(now: number = Date.now()): number {
  return now / 1000 + offsetSeconds
}
