// Renders an answer, or its state: loading, no API key, quota used up, offline.
import type { StackAnswer, StackInput, StackPaths, StackProblem } from '@strata/client';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Card } from '../../ui/card/card.tsx';
import { formatTime } from '../../ui/formats.ts';
import { Loading, Notice } from '../../ui/states.tsx';
import { getFreeKey, setKey } from './session.ts';
import { type Signed, Source } from './source.tsx';
import { useStack } from './use-stack.ts';

interface AnswerProps<B> {
  readonly query: UseQueryResult<StackAnswer<B>, StackProblem>;
  /** Lines of the loading skeleton. */
  readonly lines?: number;
  /** Renders certain errors; for any other error it returns undefined. */
  readonly renderProblem?: ((problem: StackProblem) => ReactNode) | undefined;
  readonly children: (body: B, answer: StackAnswer<B>) => ReactNode;
}

/** Shows the answer, or the error with its remedy. The answer to the previous request is shown dimmed. */
export function Answer<B>({ query, lines = 4, renderProblem, children }: AnswerProps<B>) {
  const { data, error, isPending, isPlaceholderData: isStale, refetch } = query;
  if (data) {
    return (
      <div className={isStale ? 'answer stale' : 'answer'} aria-busy={isStale}>
        {isStale && (
          <span className="hidden-text" role="status">
            Loading …
          </span>
        )}
        {children(data.body, data)}
      </div>
    );
  }
  if (isPending && !error) return <Loading lines={lines} />;
  if (!error) return null;
  return renderProblem?.(error) ?? <Problem problem={error} onRetry={() => void refetch()} />;
}

interface AnswerCardProps<P extends keyof StackPaths> {
  readonly title: ReactNode;
  readonly path: P;
  readonly input: StackInput<P>;
  /** See `useStack`. */
  readonly keepsLast?: 'page' | 'any';
  readonly actions?: ReactNode;
  readonly lines?: number;
  readonly renderProblem?: (problem: StackProblem) => ReactNode;
  /** The source is initially expanded. */
  readonly isOpen?: boolean;
  readonly children: (body: StackPaths[P]['body']) => ReactNode;
}

/** A card that requests its content, with its source below it. */
export function AnswerCard<P extends keyof StackPaths>(props: AnswerCardProps<P>) {
  const { title, path, input, keepsLast, actions, lines = 4, renderProblem, isOpen = false, children } = props;
  const query = useStack(path, input, keepsLast && { keepsLast });
  // Every JSON answer has a receipt, except those that need no key.
  const answer = query.data as StackAnswer<Signed> | undefined;
  return (
    <Card
      title={title}
      actions={actions}
      foot={answer && <Source path={path} input={input} answer={answer} isOpen={isOpen} />}
    >
      <Answer query={query} lines={lines} renderProblem={renderProblem}>
        {children}
      </Answer>
    </Card>
  );
}

/** An error message with its remedy. */
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
        <Notice title="The daily quota of this API key is used up" tone="warn" actions={<KeyForm />}>
          <p>
            {until ? `The quota resets at ${formatTime(until.toISOString())}.` : problem.detail} Pages that are already
            loaded stay available.
          </p>
        </Notice>
      );
    }
    case 'network':
      return (
        <Notice title="The service cannot be reached" tone="warn" actions={retry}>
          <p>You are offline, or the service is not running. This page retries automatically.</p>
        </Notice>
      );
    case 'invalid_parameter':
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
          {problem.requestId && <p className="soft small">Request ID: {problem.requestId}</p>}
        </Notice>
      );
  }
}

function KeyNeeded({ isRefused }: { readonly isRefused: boolean }) {
  return (
    <Notice title={isRefused ? 'Invalid API key' : 'An API key is required'} actions={<FreeKeyButton />}>
      <p>
        {isRefused ? 'The key may have been revoked, or may belong to another service. ' : ''}A free key gives you 50
        requests a day without an account. It is stored in this browser.
      </p>
      <KeyForm />
    </Notice>
  );
}

/** Creates and stores a key; shows an error message if that fails. */
export function FreeKeyButton() {
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const get = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await getFreeKey();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'The key could not be created.');
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

/** A form for an existing key. */
export function KeyForm() {
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
        Use an existing key
        <input
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="ssk_…"
          autoComplete="off"
          spellCheck={false}
        />
      </label>
      <button className="button" type="submit">
        Save
      </button>
    </form>
  );
}
