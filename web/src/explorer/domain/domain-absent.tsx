// A domain without a profile: its first scan may still be under way, or it cannot be had at all.
import type { StackProblem } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { formatNumber } from '../../ui/formats.ts';
import { Loading, Notice } from '../../ui/states.tsx';

/** Longer than this nobody keeps a page open for: then it is the reader who asks again. */
const LONGEST_WAIT_SECONDS = 30;

interface AbsentProps {
  readonly host: string;
  readonly problem: StackProblem;
  readonly onRetry: () => unknown;
}

export function DomainAbsent({ host, problem, onRetry }: AbsentProps) {
  const seconds = problem.retryAfterSeconds;
  if (seconds === null) return <NoSuchDomain host={host} problem={problem} />;
  return <StillScanning problem={problem} seconds={seconds} onRetry={onRetry} />;
}

function NoSuchDomain({ host, problem }: { readonly host: string; readonly problem: StackProblem }) {
  const isUnused = /NXDOMAIN/.test(problem.detail);
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

/** Asks once by itself when the service says that it is worth it; after that the reader decides. */
function StillScanning({
  problem,
  seconds,
  onRetry,
}: {
  readonly problem: StackProblem;
  readonly seconds: number;
  readonly onRetry: () => unknown;
}) {
  const [left, setLeft] = useState(seconds);
  const [isWaiting, setWaiting] = useState(seconds <= LONGEST_WAIT_SECONDS);
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setTimeout(() => {
      if (left > 0) return setLeft(left - 1);
      setWaiting(false);
      onRetry();
    }, 1_000);
    return () => clearTimeout(timer);
  }, [left, isWaiting, onRetry]);
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
            This page asks once more {left > 0 ? `in ${formatNumber(left)} s` : 'now'}, which costs one request.
          </p>
          <Loading lines={3} />
        </>
      ) : (
        <p className="soft">Worth asking again after {formatNumber(seconds)} s; each time costs one request.</p>
      )}
    </Notice>
  );
}
