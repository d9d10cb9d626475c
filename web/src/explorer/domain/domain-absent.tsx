// A domain without a profile: its first scan may still be under way, or it cannot be had at all.
import type { StackProblem } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../ui/formats.ts';
import { Loading, Notice } from '../../ui/states.tsx';
import { useSite } from '../site.ts';
import { useFirstScan } from './first-scan.ts';

interface AbsentProps {
  readonly host: string;
  readonly problem: StackProblem;
  readonly onRetry: () => unknown;
}

export function DomainAbsent({ host, problem, onRetry }: AbsentProps) {
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
      title={isUnused ? 'There is no such domain' : problem.title}
      actions={
        <Link className="button" to="/search" search={{ q: host }}>
          Search for similar names
        </Link>
      }
    >
      <p>{problem.detail}</p>
      {isUnused && <p className="soft">Check the spelling: nobody has registered this name, or it is not in use.</p>}
    </Notice>
  );
}

/** Newcomers type a name that they know, and nobody should think that it does not exist. */
function NotInDemo({ host, exampleDomain }: { readonly host: string; readonly exampleDomain: string | undefined }) {
  return (
    <Notice
      title={`${host} is not in this demo`}
      actions={
        exampleDomain !== undefined && (
          <Link className="button primary" to="/domain/$domain" params={{ domain: exampleDomain }}>
            Look at {exampleDomain}
          </Link>
        )
      }
    >
      <p>
        This is a demo on a simulated internet: its companies are invented, and real names do not answer in it. Started
        with <code>npm start</code>, the service asks the real internet.
      </p>
    </Notice>
  );
}

/** Asks once by itself, as soon as the domain is known; after that the reader decides. */
function StillScanning({ host, problem, seconds, onRetry }: AbsentProps & { readonly seconds: number }) {
  const isWaiting = useFirstScan(host, onRetry);
  return (
    <Notice
      title={isWaiting ? 'The first look at this domain goes on' : 'No answer yet'}
      actions={
        <button className="button" type="button" onClick={() => onRetry()}>
          Ask again
        </button>
      }
    >
      <p>{problem.detail}</p>
      {isWaiting ? (
        <>
          <p className="soft">
            This page sees by itself when the domain becomes known, and asks once more then; until then it costs
            nothing.
          </p>
          <Loading lines={3} />
        </>
      ) : (
        <p className="soft">Worth asking again after {formatNumber(seconds)} s; each time costs one request.</p>
      )}
    </Notice>
  );
}
