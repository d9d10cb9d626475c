// What stands in an answer's place until it is there, and when there is none: loading, no key, quota used up, offline.
import type { StackAnswer, StackProblem } from '@strata/client';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { formatTime } from '../../ui/formats.ts';
import { Loading, Notice } from '../../ui/states.tsx';
import { getFreeKey, setKey } from './session.ts';

interface AnswerProps<B> {
  readonly query: UseQueryResult<StackAnswer<B>, StackProblem>;
  /** Lines of the skeleton, about as many as the answer will take. */
  readonly lines?: number;
  readonly children: (body: B, answer: StackAnswer<B>) => ReactNode;
}

/** Shows the answer, or says what is in the way of it and what can be done. An answer to the question before is shown as an old one. */
export function Answer<B>({ query, lines = 4, children }: AnswerProps<B>) {
  const { data, error, isPending, isPlaceholderData: isOld, refetch } = query;
  if (data) {
    return (
      <div className={isOld ? 'answer old' : 'answer'} aria-busy={isOld}>
        {isOld && (
          <span className="hidden-text" role="status">
            Loading …
          </span>
        )}
        {children(data.body, data)}
      </div>
    );
  }
  if (isPending && !error) return <Loading lines={lines} />;
  return error ? <Problem problem={error} onRetry={() => void refetch()} /> : null;
}

/** A refusal in words, with the way on. */
export function Problem({ problem, onRetry }: { readonly problem: StackProblem; readonly onRetry?: () => void }) {
  const retry = onRetry && (
    <button className="button" type="button" onClick={onRetry}>
      Try again
    </button>
  );
  switch (problem.code) {
    case 'missing_key':
    case 'invalid_key':
      return <KeyNeeded isRefused={problem.code === 'invalid_key'} />;
    case 'quota_exceeded': {
      const until = problem.quota?.resetsAt ?? null;
      return (
        <Notice title="Today's requests of this key are used up" tone="warn" actions={<OtherKey />}>
          <p>
            {until ? `It has new ones from ${formatTime(until.toISOString())} on.` : problem.detail} What you have open
            stays readable.
          </p>
        </Notice>
      );
    }
    case 'network':
      return (
        <Notice title="The service cannot be reached" tone="warn" actions={retry}>
          <p>Either you are offline or it is not running. It is asked again as soon as it is back.</p>
        </Notice>
      );
    case 'unknown_domain':
    case 'unknown_provider':
    case 'not_found':
      return (
        <Notice title={problem.title} actions={problem.retryAfterSeconds === null ? <Link to="/">Search</Link> : retry}>
          <p>{problem.detail}</p>
        </Notice>
      );
    default:
      return (
        <Notice title={problem.title} tone="bad" actions={retry}>
          <p>{problem.detail}</p>
          {problem.requestId && <p className="soft small">Request {problem.requestId}</p>}
        </Notice>
      );
  }
}

function KeyNeeded({ isRefused }: { readonly isRefused: boolean }) {
  return (
    <Notice title={isRefused ? 'This key is not known here' : 'Get a free key to see this'} actions={<FreeKeyButton />}>
      <p>
        {isRefused ? 'It may have been revoked, or belong to another service. ' : ''}A key is free and needs no account:
        50 requests a day, kept in this browser.
      </p>
      <OtherKey />
    </Notice>
  );
}

/** Makes a key, keeps it, and shows what went wrong where that fails. */
export function FreeKeyButton() {
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const get = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await getFreeKey();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'No key could be had.');
    }
    setBusy(false);
  };
  return (
    <span>
      <button className="button primary" type="button" disabled={isBusy} onClick={() => void get()}>
        Get a free key
      </button>
      {problem && (
        <span role="alert" className="field-problem">
          {problem}
        </span>
      )}
    </span>
  );
}

/** For a key that the reader has already. */
export function OtherKey() {
  const [text, setText] = useState('');
  return (
    <form
      className="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') setKey(text.trim());
      }}
    >
      <label>
        Use a key that you have
        <input
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="ssk_…"
          autoComplete="off"
          spellCheck={false}
        />
      </label>
      <button className="button" type="submit">
        Use it
      </button>
    </form>
  );
}
