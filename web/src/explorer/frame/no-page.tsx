// In a page's place: there is none, it has failed, or its script has not come.
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { Notice } from '../../ui/states.tsx';
import { onReached } from '../answer/connection.ts';
import { PageNotLoaded } from './page-load.ts';

export function NotFound() {
  useTitle('No such page');
  return (
    <Notice title="There is no such page" actions={<Link to="/">Home</Link>}>
      <p>The address may be mistyped, or the page has moved.</p>
    </Notice>
  );
}

export function WentWrong({ error, reset }: ErrorComponentProps) {
  if (error instanceof PageNotLoaded) return <NotLoaded />;
  return (
    <Failed title="This page has failed" onRetry={reset}>
      <p className="mono small">{error instanceof Error ? error.message : String(error)}</p>
    </Failed>
  );
}

/** Tried again when the service can be reached. */
function NotLoaded() {
  const router = useRouter();
  const again = () => void router.invalidate();
  useEffect(() => onReached(() => void router.invalidate()), [router]);
  return (
    <Failed title="This page could not be loaded" onRetry={again}>
      <p>It was not opened before, and the service cannot be reached. It is loaded as soon as that is possible.</p>
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
