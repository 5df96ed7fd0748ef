/** Marks a figure that misses its goal; the command exits 1 then. */
export function goalCell(figure: number, sign: '≥' | '≤', goal: number): string {
  const isMet = sign === '≥' ? figure >= goal : figure <= goal
  if (!isMet) process.exitCode = 1
  return `${sign} ${goal}${isMet ? '' : ': not met'}`
}

/** The first line is the table's head. */
export function printMarkdown([head = [], ...lines]: (string | number)[][]): void {
  console.log('')
  for (const line of [head, head.map(() => '---'), ...lines]) console.log(`| ${line.join(' | ')} |`)
}
