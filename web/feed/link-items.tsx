import { Link, Share } from 'lucide-react'
import { postPath } from '../../contract/pages.ts'
import { copyText } from '../browser/copy-text.ts'
import type { CachedPost } from '../posts/cache/post-cache.ts'
import type { MenuItem } from '../ui/menu.tsx'
import { useToast } from '../ui/toaster.tsx'

/** The items of a post's menu that pass on its link: one copies it, the other, where the browser can, shares it. */
export function useLinkItems({ id }: CachedPost): MenuItem[] {
  const toast = useToast()
  const address = () => new URL(postPath(id), location.href).href

  async function copy(): Promise<void> {
    await copyText(address())
    toast({ text: 'Ссылка скопирована' })
  }

  async function share(): Promise<void> {
    try {
      await navigator.share({ url: address() })
    } catch (error) {
      // The person closed the browser's dialog.
      if (error instanceof DOMException && error.name === 'AbortError') return
      toast({ text: 'Не получилось поделиться' })
    }
  }

  const items: MenuItem[] = [
    {
      label: 'Скопировать ссылку',
      icon: <Link size={18} aria-hidden="true" />,
      onSelect: () => void copy(),
    },
  ]
  // On the server too the menu is closed, so its items need not be the same there.
  if ('share' in navigator) {
    items.push({
      label: 'Поделиться',
      icon: <Share size={18} aria-hidden="true" />,
      onSelect: () => void share(),
    })
  }
  return items
}
