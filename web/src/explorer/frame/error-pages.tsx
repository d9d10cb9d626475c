// Error pages: not found, failed, or script not loaded.
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { Notice } from '../../ui/states.tsx';
import { onReconnect } from '../answer/connection.ts';
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
  const again = () => void router.invalidate();
  useEffect(() => onReconnect(() => void router.invalidate()), [router]);
  return (
    <Failed title="This page could not be loaded" onRetry={again}>
      <p>The service cannot be reached. The page loads automatically when the connection is restored.</p>
    </Failed>
  );
}

function Failed({
  title,
  onRetry,
  children,
}: {
  readonly title: string;
  readonly onRetry: () => void;
  readonly children: ReactNode;
}) {
  useTitle(title);
  return (
    <Notice
      title={title}
      tone="bad"
      actions={
        <button className="button" type="button" onClick={onRetry}>
          Try again
        </button>
      }
    >
      {children}
    </Notice>
  );
}

function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Strata`;
  }, [title]);
}
