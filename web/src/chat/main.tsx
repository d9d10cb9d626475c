// Entry point of the chat.
import '../ui/theme/base.css';
import '../ui/theme/ui.css';
import './frame.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { PageBoundary } from './page-boundary.tsx';

const queries = new QueryClient({ defaultOptions: { queries: { refetchOnWindowFocus: false } } });

const root = document.getElementById('root');
if (!root) throw new Error('the page has no #root element');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <PageBoundary>
        <App />
      </PageBoundary>
    </QueryClientProvider>
  </StrictMode>,
);
