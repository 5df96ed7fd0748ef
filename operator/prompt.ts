import { createInterface } from 'node:readline/promises'
import { type Readable, Writable } from 'node:stream'

type Asked = { input: Readable; err: Writable }

/** Asks on a terminal. Rejects when Ctrl+C or Ctrl+D end the question without an answer. */
export async function prompt(
  { input, err }: Asked,
  question: string,
  { isHidden = false } = {},
): Promise<string> {
  // What is typed is echoed by the interface, and a hidden answer into nothing.
  const output = isHidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : err
  const questions = createInterface({ input, output, terminal: true })
  // Only now does the terminal echo nothing by itself.
  if (isHidden) err.write(question)
  try {
    return (await questions.question(isHidden ? '' : question)).trim()
  } finally {
    questions.close()
    if (isHidden) err.write('\n')
  }
}
