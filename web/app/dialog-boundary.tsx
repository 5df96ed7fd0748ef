import { Component, type ReactNode } from 'react'

type DialogBoundaryProps = { children: ReactNode; onBroken: () => void }

/** Keeps the page standing when a dialog broke. */
export class DialogBoundary extends Component<DialogBoundaryProps, { broken: boolean }> {
  override state = { broken: false }

  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true }
  }

  override componentDidCatch(error: unknown): void {
    console.error(error)
    this.props.onBroken()
  }

  override render(): ReactNode {
    return this.state.broken ? null : this.props.children
  }
}
