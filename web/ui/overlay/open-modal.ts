let close: (() => void) | undefined

/** Sets the function that closes the open modal. Returns the function that ends this. */
export function followModal(onClose: () => void): () => void {
  close = onClose
  return () => {
    if (close === onClose) close = undefined
  }
}

/** Closes the open modal as its user does, so that it can save a draft. Returns false without one. */
export function closeModal(): boolean {
  const closing = close
  closing?.()
  return closing !== undefined
}
