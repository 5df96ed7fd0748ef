import { defineConfig } from 'vitest/config'
import { strict, wholeProduct } from './vitest.shared.ts'

/**
 * Screens of the demo as pictures, which depend on the fonts and the Chromium of the machine (Debian's), so not part of
 * `npm test`. With `-u` they are taken anew.
 */
export default defineConfig({
  test: {
    name: 'looks',
    include: ['e2e/visual/*.test.ts'],
    globalSetup: ['./scripts/e2e-setup.ts'],
    env: { RENEW_PICTURES: process.argv.includes('-u') ? '1' : '0' },
    ...strict,
    ...wholeProduct,
  },
})
