import { Writable } from 'node:stream'

/** Collects an app's log in place of its standard error. */
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
    /** The newest line with these words in it, the `count`-th at least: waits for it. */
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
