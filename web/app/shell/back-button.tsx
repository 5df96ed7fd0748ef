import { ArrowLeft } from 'lucide-react'
import { IconButton } from '../../ui/icon-button.tsx'
import styles from './back-button.module.css'

/** Goes back; where to is the router's to say. */
export function BackButton({ onBack }: { onBack: () => void }) {
  return (
    <IconButton
      className={styles.back}
      label="Назад"
      icon={<ArrowLeft size={22} />}
      onClick={onBack}
    />
  )
}
