import { useId, useLayoutEffect, useRef } from 'react'
import { createAtom, useAtom } from '../../platform/atom.ts'
import { classes } from '../classes.ts'
import { liveRegion } from '../live-region.ts'
import { Pause } from '../pause.tsx'
import { createToastQueue } from './toast-queue.ts'
import styles from './toaster.module.css'

export type Toast = {
  text: string
  /** Hides the toast in a dialog. */
  pageOnly?: boolean
  link?: { label: string } & (
    | { to: string }
    | {
        onSelect: () => void
        /** Hides the button in a dialog, which offers the same itself. */
        pageOnly?: boolean
      }
  )
}

const TIMING = { durationMs: 3500, pauseMs: 700 }

const queue = createToastQueue<Toast>(TIMING)
/** The ids of the mounted toast regions, the topmost last. */
const regions = createAtom<readonly string[]>([])

export const toast = queue.push

/** The options of a toast that answers no act of the viewer. */
export const NEWS = { waits: true } as const

/** Shows toasts. Each open modal has a region too, because all outside the topmost is inert. */
export function ToastRegion({ inModal = false }: { inModal?: boolean }) {
  const id = useId()
  const isTopmost = useAtom(regions).at(-1) === id
  const next = useAtom(queue)
  const shown = isTopmost && !(inModal && next?.pageOnly) ? next : undefined
  const link = shown?.link
  const hasLink = link && !(inModal && 'pageOnly' in link && link.pageOnly)
  const ref = useRef<HTMLDivElement>(null)

  useLayoutEffect(() => {
    regions.set([...regions.get(), id])
    return () => {
      regions.set(regions.get().filter((other) => other !== id))
      // A toast that unmounts with its region never reports that the pointer has left it.
      queue.resume()
    }
  }, [id])

  // Shows the region anew, because the last element in the top layer is above all others.
  useLayoutEffect(() => {
    if (!shown) return
    ref.current?.hidePopover()
    ref.current?.showPopover()
  }, [shown])

  return (
    <div ref={ref} className={styles.region} popover="manual" {...liveRegion(Boolean(shown))}>
      {shown && (
        // biome-ignore lint/a11y/noStaticElementInteractions: only stops the timer.
        <div
          className={classes('line', styles.toast)}
          onPointerEnter={queue.pause}
          onPointerLeave={({ currentTarget }) =>
            currentTarget.matches(':focus-within') || queue.resume()
          }
          onFocus={queue.pause}
          onBlur={queue.resume}
        >
          <span>{shown.text}</span>
          {hasLink && (
            <>
              <Pause />
              <ToastLink link={link} />
            </>
          )}
        </div>
      )}
    </div>
  )
}

function ToastLink({ link }: { link: NonNullable<Toast['link']> }) {
  const look = { className: classes('control', styles.link), children: link.label }
  if ('to' in link) return <a {...look} href={link.to} onClick={queue.dismiss} />
  const select = () => {
    queue.dismiss()
    link.onSelect()
  }
  return <button {...look} type="button" onClick={select} />
}
