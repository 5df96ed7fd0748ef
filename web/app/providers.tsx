import { QueryClientProvider } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { BrowserRouter } from 'react-router'
import { queryClient } from '../api/query-client.ts'
import { Toaster } from '../ui/toaster.tsx'

/** What everything inside counts on: the address, the cache, the toasts. */
export function Providers({ children }: { children: ReactNode }) {
  return (
    <QueryClientProvider client={queryClient}>
      <BrowserRouter>
        <Toaster>{children}</Toaster>
      </BrowserRouter>
    </QueryClientProvider>
  )
}
