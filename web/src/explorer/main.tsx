// The explorer's beginning.
import '../ui/theme/base.css';
import '../ui/theme/ui.css';
import './frame/explorer.css';
import './answer/answer.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './answer/queries.ts';
import { router } from './router.tsx';

const place = document.getElementById('root');
if (!place) throw new Error('the page has no place for the explorer');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
