// Entry point of the chat.
import '../ui/theme/base.css';
import '../ui/theme/ui.css';
import './frame.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Component, type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Button } from '../ui/controls/button.tsx';
import { Notice } from '../ui/states.tsx';
import { App } from './app.tsx';

class PageBoundary extends Component<{ readonly children: ReactNode }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <main className="chat-machines content">
        <Notice
          title="Something went wrong"
          tone="bad"
          actions={
            <>
              <Button kind="primary" onClick={() => location.reload()}>
                Reload
              </Button>
              <a href="/">Start a new conversation</a>
            </>
          }
        >
          <p>Your conversations are stored in this browser.</p>
        </Notice>
      </main>
    );
  }
}

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
