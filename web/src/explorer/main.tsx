// The explorer's beginning.
import '../ui/base.css';
import '../ui/ui.css';
import './explorer.css';
import './answer.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './queries.ts';
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
