import type { View } from './look.ts'

type Circumstances = {
  isOnline: boolean
  /** Whether the Tab key may have moved the focus from a dialog into the browser's own controls. */
  hasTabbed: boolean
  /** The words of texts that were typed and not yet published, given up or overwritten. */
  words: Iterable<string>
  /** How often each word of a text that was typed stands in the database. */
  published: ReadonlyMap<string, number>
  /** What stands on the other tabs, and in their storage. */
  elsewhere: string
  /** The words of texts that others wrote in this browser and have not published. */
  wordsOfOthers: Iterable<string>
}

/** Returns what is wrong with a page that has had the time to settle. */
export function findFaults(view: View, now: Circumstances): string[] {
  const faults: (string | false)[] = [
    view.bodyLength === 0 && 'the page is blank',
    view.bodyLength > 0 && view.mainLength === 0 && 'the main part of the page is blank',
    view.title === '' && 'the page has no title',
    !view.hasFocusInDialog &&
      !(now.hasTabbed && view.focused === 'body') &&
      `the focus is not in the open dialog «${view.dialogs.at(-1)}», but at ${view.focused}`,
    view.dialogs.length > 2 && `${view.dialogs.length} dialogs are open`,
    view.isFieldOutOfSight &&
      `the field with the focus is out of sight in «${view.dialogs.at(-1)}»`,
    view.toasts.length > 1 && `several toasts are shown: ${view.toasts.join(' | ')}`,
    view.sideways > 0 && `the page scrolls sideways by ${view.sideways} px`,
    view.repeatedPosts.length > 0 && `a list repeats posts: ${view.repeatedPosts}`,
    view.strangeWords.length > 0 && `the page shows ${view.strangeWords}`,
    now.isOnline &&
      /^(?:loading)?$/.test(view.whyStatic ?? 'run') &&
      'the scripts of the page do not run',
    now.isOnline && view.busy.length > 0 && `never ends to be busy: ${view.busy.join(' | ')}`,
  ]
  const everywhere = `${view.everything}\n${now.elsewhere}`
  for (const word of now.words) {
    const count = now.published.get(word) ?? 0
    if (count === 0 && !everywhere.includes(word)) faults.push(`the text with ${word} is nowhere`)
  }
  for (const word of now.wordsOfOthers) {
    if (view.onScreen.includes(word))
      faults.push(`the text with ${word} is shown to another person`)
  }
  for (const [word, count] of now.published) {
    if (count > 1) faults.push(`the text with ${word} is published ${count} times`)
  }
  return faults.filter((it) => it !== false)
}

/** Returns what a step did that it must not do. Both views are of a page that has settled. */
export function findWrongStep(step: string, before: View, after: View): string[] {
  const faults: (string | false)[] = [
    step === 'go back' &&
      before.dialogs.length > 0 &&
      (after.path !== before.path || after.dialogs.length >= before.dialogs.length) &&
      `going back did not close the dialog «${before.dialogs.at(-1)}» of ${before.path}`,
    step === 'reload' &&
      before.dialogs.length === 0 &&
      after.viewer === before.viewer &&
      after.firstPost !== before.firstPost &&
      `a reload lost the place: post ${before.firstPost} became ${after.firstPost}`,
  ]
  return faults.filter((it) => it !== false)
}
