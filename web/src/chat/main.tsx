// The chat's beginning.
import '../ui/base.css';
import '../ui/ui.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

const place = document.getElementById('root');
if (!place) throw new Error('the page has no place for the chat');
createRoot(place).render(<StrictMode>…</StrictMode>);
