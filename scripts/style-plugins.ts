import type { CSSOptions } from 'vite'

/** In em of the reader's font size: 757 px and 1060 px by default. Used as `@media (--phone)`. */
const BREAKPOINTS: Record<string, string> = {
  '(--phone)': '(width < 47.3125em)',
  // Also a phone on its side, whose keyboard leaves little of the height.
  '(--sheet)': '(width < 47.3125em), (height < 25em)',
  '(--desktop)': '(min-width: 66.25em)',
}

/**
 * The system's fonts, in which a page shows until Golos Text is loaded. `size` is the width of
 * Russian text in Golos Text over its width in that font, in percent, as measured in Chromium;
 * `latin` the same for Latin letters and digits.
 */
const SYSTEM_FONTS = [
  { family: 'Arial', local: ['Arial', 'Liberation Sans'], size: 105.5, latin: 106.5 },
  { family: 'Arial', local: ['Arial', 'Liberation Sans'], isBold: true, size: 99.5, latin: 105.5 },
  { family: 'Roboto', local: ['Roboto'], size: 104.2, latin: 106 },
  { family: 'Roboto', local: ['Roboto'], isBold: true, size: 104.8, latin: 106.5 },
  { family: 'DejaVu', local: ['DejaVu Sans'], size: 93.4 },
  { family: 'DejaVu', local: ['DejaVu Sans'], isBold: true, size: 86.7 },
]
/** Metrics of Golos Text in percent of its size: hhea of its woff2, equal to its typo metrics. */
const [ASCENT, DESCENT] = [98, 22]

type FaceOptions = Omit<(typeof SYSTEM_FONTS)[number], 'latin'> & { range?: string }

/** Makes a face as large as Golos Text, so that nothing moves when that is loaded. */
function faceOf({ family, local, isBold, size, range }: FaceOptions): string {
  const overrideOf = (metric: number) => `${((metric / size) * 100).toFixed(1)}%`
  return `@font-face {
    font-family: "Golos ${family}";
    font-weight: ${isBold ? '501 900' : '400 500'};
    src: ${local.map((name) => `local("${name}${isBold ? ' Bold' : ''}")`).join()};
    size-adjust: ${size}%;
    ascent-override: ${overrideOf(ASCENT)};
    descent-override: ${overrideOf(DESCENT)};
    line-gap-override: 0%;
    ${range ? `unicode-range: ${range};` : ''}
  }`
}

function fallbackFaces(): string[] {
  return SYSTEM_FONTS.flatMap(({ latin, ...font }) => [
    faceOf(font),
    ...(latin ? [faceOf({ ...font, size: latin, range: 'U+0000-024F' })] : []),
  ])
}

export const STYLE_PLUGINS = [
  {
    postcssPlugin: 'breakpoints',
    AtRule: {
      media: (rule) => {
        const params = rule.params.replace(/\(--\w+\)/g, (name) => BREAKPOINTS[name] ?? name)
        if (params !== rule.params) rule.params = params
      },
    },
  },
  {
    postcssPlugin: 'fallback-fonts',
    Once(root, { parse }) {
      const from = root.source?.input.file
      if (from?.endsWith('/ui/base.css')) root.append(parse(fallbackFaces().join('\n'), { from }))
    },
  },
  {
    // Keeps the font of the first paint, because another font could rewrap lines during reading.
    postcssPlugin: 'steady-fonts',
    Declaration: {
      'font-display': (declaration) => {
        declaration.value = 'optional'
      },
    },
  },
] satisfies NonNullable<Exclude<CSSOptions['postcss'], string>>['plugins']
