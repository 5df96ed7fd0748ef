/** A setting that works and is likely not meant, and the fix; both without full stops. */
export type ConfigWarning = { message: string; fix: string }

type Facts = Record<'publicUrl' | 'operatorName' | 'contactEmail', string | undefined>

/** `names` are the variables that the product reads. */
export function warningsOf(
  env: NodeJS.ProcessEnv,
  names: ReadonlySet<string>,
  { publicUrl, operatorName, contactEmail }: Facts,
): ConfigWarning[] {
  const warnings: ConfigWarning[] = []
  const missing = [
    ...(operatorName === undefined ? ['OPERATOR_NAME'] : []),
    ...(contactEmail === undefined ? ['CONTACT_EMAIL'] : []),
  ]
  if (publicUrl?.startsWith('https:') && missing.length > 0) {
    warnings.push({
      message: `сайт открыт людям, а кто за него отвечает и куда писать, не указано: ${missing.join(', ')}`,
      fix: `Задайте ${missing.join(' и ')}: их называют /privacy и /contacts (docs/law.md)`,
    })
  }
  for (const name of Object.keys(env)) {
    if (names.has(name)) continue
    const meant = [...names].find((known) => isMisspelt(name, known))
    if (meant === undefined) continue
    const message = `переменной ${name} нет`
    warnings.push({ message, fix: `Если имелась в виду ${meant}, исправьте имя` })
  }
  return warnings
}

/** Shorter names, such as PORT, are near to those of other programs. */
const SHORTEST = 7
const FEW_LETTERS = 2

/** Whether two neighbouring letters, or fewer, tell a name from the other. */
function isMisspelt(name: string, known: string): boolean {
  if (known.length < SHORTEST) return false
  const longer = Math.max(name.length, known.length)
  let head = 0
  while (head < longer && name[head] === known[head]) head++
  let tail = 0
  while (tail < longer - head && name.at(-1 - tail) === known.at(-1 - tail)) tail++
  return longer - head - tail <= FEW_LETTERS
}
