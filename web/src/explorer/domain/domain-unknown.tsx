// A domain without a profile: its first scan is in progress, or it cannot be scanned.
import type { StackProblem } from '@strata/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { Loading, Notice } from '../../ui/states.tsx';
import { fetchSuggestions } from '../search/suggestions.ts';
import { useSite } from '../site.ts';

interface UnknownProps {
  readonly host: string;
  readonly problem: StackProblem;
  readonly onRetry: () => unknown;
}

export function DomainUnknown(props: UnknownProps) {
  return props.problem.retryAfterSeconds === null ? <NoSuchDomain {...props} /> : <StillScanning {...props} />;
}

function NoSuchDomain({ host, problem }: UnknownProps) {
  const isUnused = /NXDOMAIN/.test(problem.detail);
  const { isSimulated, exampleDomain } = useSite();
  if (isUnused && isSimulated) return <NotInDemo host={host} exampleDomain={exampleDomain} />;
  return (
    <Notice
      title={isUnused ? 'This domain does not exist' : problem.title}
      actions={
        <Link className="button" to="/search" search={{ q: host }}>
          Search for similar names
        </Link>
      }
    >
      <p>{problem.detail}</p>
      {isUnused && <p className="soft">Check the spelling. The name is not registered, or has no DNS records.</p>}
    </Notice>
  );
}

/** The demo has invented domains only: explains why a real name is not found. */
function NotInDemo({ host, exampleDomain }: { readonly host: string; readonly exampleDomain: string | undefined }) {
  return (
    <Notice
      title={`${host} is not in this demo`}
      actions={
        exampleDomain !== undefined && (
          <Link className="button primary" to="/domain/$domain" params={{ domain: exampleDomain }}>
            View {exampleDomain}
          </Link>
        )
      }
    >
      <p>
        This demo runs on a simulated internet with invented companies; real domain names do not exist in it. Start the
        service with <code>npm start</code> to scan the real internet.
      </p>
    </Notice>
  );
}

function StillScanning({ host, problem, onRetry }: UnknownProps) {
  const isWaiting = useFirstScan(host, onRetry);
  return (
    <Notice
      title={isWaiting ? 'The first scan of this domain is in progress' : 'No result yet'}
      actions={<Button onClick={() => onRetry()}>Retry</Button>}
    >
      <p>{problem.detail}</p>
      {isWaiting ? (
        <>
          <p className="soft">
            This page loads the result automatically when the scan is complete. Waiting uses no requests.
          </p>
          <Loading />
        </>
      ) : (
        <p className="soft">Retry after {formatNumber(problem.retryAfterSeconds)} s. Each retry uses one request.</p>
      )}
    </Notice>
  );
}

const POLL_MS = 2_000;
/** A first scan takes seconds. A name still unknown after this time may not exist. */
const MAX_WAIT_MS = 30_000;

/** Hosts that were already retried automatically; further retries are left to the user. */
const awaited = new Set<string>();

/**
 * Whether it is still waiting until the domain is known: polls the suggestions, which do not count against the quota.
 * Calls `onKnown` at most once per host while the pages are open.
 */
function useFirstScan(host: string, onKnown: () => unknown): boolean {
  const [until] = useState(() => Date.now() + MAX_WAIT_MS);
  const [isWaiting, setWaiting] = useState(!awaited.has(host));
  const { data: isKnown = false, dataUpdatedAt } = useQuery({
    queryKey: ['is-known', host],
    queryFn: ({ signal }) => isSuggested(host, signal),
    networkMode: 'always',
    enabled: isWaiting,
    refetchInterval: POLL_MS,
  });
  const isOver = isWaiting && (isKnown || dataUpdatedAt >= until);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, when the wait is over
  useEffect(() => {
    if (!isOver) return;
    awaited.add(host);
    setWaiting(false);
    if (isKnown) onKnown();
  }, [isOver]);
  return isWaiting;
}

/** Suggestions contain registrable domains: `example.co.uk` for `www.example.co.uk`. */
async function isSuggested(host: string, signal: AbortSignal): Promise<boolean> {
  const labels = host.toLowerCase().split('.');
  const names = labels.slice(0, -1).map((_, i) => labels.slice(i).join('.'));
  const found = await Promise.all(
    names.slice(-4).map(async (name) => (await fetchSuggestions(name, signal)).domains.includes(name)),
  );
  return found.includes(true);
}
