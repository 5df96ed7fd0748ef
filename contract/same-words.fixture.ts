/** Texts that are the same words for search and for hidden words. */
export const SAME_WORDS = [
  ['Выборы', 'ВЫБОРЫ', 'case'],
  ['елка', 'Ёлка', '«ё»'],
  ['зеленая', 'зелёная', '«ё» inside'],
  ['все', 'всѐ', '«е» with a grave'],
  ['сами', 'самѝ', '«и» with a grave'],
  ['замок', 'за\u0301мок', 'an acute'],
  ['вода', 'вода\u0301', 'an acute at the end'],
  ['вокзал', 'вок\u00adзал', 'a soft hyphen'],
  ['слово', 'сло\u200bво', 'a zero width space'],
  ['слово', 'сло\u2060во', 'a word joiner'],
  ['слово', '\ufeffслово', 'a byte order mark'],
  ['слово', 'сло\u200d\u200c\u200eво', 'joiners and marks of direction'],
  ['слово', 'с\u034fл\u061cо\u180eв\ufe0fо', 'other invisible characters'],
  ['слово', 'сло\u3164\u{e0041}во', 'a filler and a tag'],
  ['новый год', 'новый\u00a0год', 'a no-break space'],
  ['новый год', 'Новый\u202f\u2009год', 'narrow spaces'],
  ['новый год', 'новый\u3000\nгод', 'a wide space and a line break'],
  ['новый год', 'новый\u2800год', 'a blank symbol'],
  ['кто-то', 'кто\u2011то', 'a no-break hyphen'],
] as const

/** Texts that are other words. */
export const OTHER_WORDS = [
  ['слово', 'сло во'],
  ['мир', 'мира'],
  ['и', 'й'],
  ['выборы', 'вьiборы'],
] as const
