/** Puts a text on the clipboard, also on plain http, where browsers have no Clipboard API. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    copyByEvent(text)
  }
}

function copyByEvent(text: string): void {
  const put = (event: ClipboardEvent) => {
    event.preventDefault()
    event.clipboardData?.setData('text/plain', text)
  }
  document.addEventListener('copy', put, { once: true })
  document.execCommand('copy')
  document.removeEventListener('copy', put)
}
