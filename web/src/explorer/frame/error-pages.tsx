// Error pages: not found, failed, or script not loaded.
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { Notice, Retry } from '../../ui/states.tsx';
import { onReconnect } from '../answer/connection.ts';
import { useTitle } from './page.tsx';
import { PageNotLoaded } from './page-load.ts';

export function NotFound() {
  useTitle('Page not found');
  return (
    <Notice title="Page not found" actions={<Link to="/">Home</Link>}>
      <p>The URL may be mistyped, or the page may have moved.</p>
    </Notice>
  );
}

export function PageError({ error, reset }: ErrorComponentProps) {
  if (error instanceof PageNotLoaded) return <NotLoaded />;
  return (
    <Failed title="Something went wrong" onRetry={reset}>
      <p className="mono small">{error instanceof Error ? error.message : String(error)}</p>
    </Failed>
  );
}

/** Retries when the service becomes reachable. */
function NotLoaded() {
  const router = useRouter();
  useEffect(() => onReconnect(() => void router.invalidate()), [router]);
  return (
    <Failed title="This page could not be loaded" onRetry={() => void router.invalidate()}>
      <p>The service cannot be reached. The page loads automatically when the connection is restored.</p>
    </Failed>
  );
}

interface FailedProps {
  readonly title: string;
  readonly onRetry: () => void;
  readonly children: ReactNode;
}

function Failed({ title, onRetry, children }: FailedProps) {
  useTitle(title);
  return (
    <Notice title={title} tone="bad" actions={<Retry onRetry={onRetry} />}>
      {children}
    </Notice>
  );
}
