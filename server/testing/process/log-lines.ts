import { Writable } from 'node:stream'

/** Collects an app's log lines instead of printing them. */
export function collectLog() {
  const lines: string[] = []
  let written = Promise.withResolvers<void>()
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      written.resolve()
      written = Promise.withResolvers()
      done()
    },
  })

  return {
    lines,
    stream,
    /** Waits until `count` lines contain these words. Returns the newest one. */
    async line(words: string, count = 1): Promise<string> {
      for (;;) {
        const found = lines.filter((line) => line.includes(words))
        const newest = found.at(-1)
        if (newest && found.length >= count) return newest
        await written.promise
      }
    },
  }
}
