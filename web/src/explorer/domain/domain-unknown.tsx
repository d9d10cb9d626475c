// A domain without a profile: its first scan is in progress, or it cannot be scanned.
import type { StackProblem } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../ui/formats.ts';
import { Loading, Notice } from '../../ui/states.tsx';
import { useSite } from '../site.ts';
import { useFirstScan } from './first-scan.ts';

interface UnknownProps {
  readonly host: string;
  readonly problem: StackProblem;
  readonly onRetry: () => unknown;
}

export function DomainUnknown({ host, problem, onRetry }: UnknownProps) {
  const seconds = problem.retryAfterSeconds;
  if (seconds === null) return <NoSuchDomain host={host} problem={problem} />;
  return <StillScanning host={host} problem={problem} seconds={seconds} onRetry={onRetry} />;
}

function NoSuchDomain({ host, problem }: { readonly host: string; readonly problem: StackProblem }) {
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

/** Retries once automatically, as soon as the domain is known; after that the user decides. */
function StillScanning({ host, problem, seconds, onRetry }: UnknownProps & { readonly seconds: number }) {
  const isWaiting = useFirstScan(host, onRetry);
  return (
    <Notice
      title={isWaiting ? 'The first scan of this domain is in progress' : 'No result yet'}
      actions={
        <button className="button" type="button" onClick={() => onRetry()}>
          Retry
        </button>
      }
    >
      <p>{problem.detail}</p>
      {isWaiting ? (
        <>
          <p className="soft">
            This page loads the result automatically when the scan is complete. Waiting uses no requests.
          </p>
          <Loading lines={3} />
        </>
      ) : (
        <p className="soft">Retry after {formatNumber(seconds)} s. Each retry uses one request.</p>
      )}
    </Notice>
  );
}
