// Renders an answer, or its state: loading, no API key, quota used up, offline.
import type { StackAnswer, StackInput, StackPath, StackPaths, StackProblem } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Card } from '../../ui/card/card.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { FreeKey } from '../../ui/controls/free-key.tsx';
import { formatTime } from '../../ui/formats.ts';
import { Loading, Notice, Retry } from '../../ui/states.tsx';
import { getFreeKey, setKey } from './session.ts';
import { type Signed, Source } from './source.tsx';
import { type Query, type RequestOptions, useStack } from './use-stack.ts';

interface AnswerProps<B> {
  readonly query: Query<B>;
  /** Renders certain errors; for any other error it returns undefined. */
  readonly renderProblem?: ((problem: StackProblem) => ReactNode) | undefined;
  /** Renders the body; `source` is the footer of its card. */
  readonly children: (body: B, source: ReactNode) => ReactNode;
}

/** Shows the answer, or the error with its remedy. The answer to the previous request is shown dimmed. */
export function Answer<B>({ query, renderProblem, children }: AnswerProps<B>) {
  const { data, error, isPlaceholderData: isStale, refetch } = query;
  if (data) {
    return (
      <div className={isStale ? 'answer stale' : 'answer'} aria-busy={isStale}>
        {isStale && (
          <span className="hidden-text" role="status">
            Loading …
          </span>
        )}
        {children(data.body, <SourceOf query={query} />)}
      </div>
    );
  }
  if (!error) return <Loading />;
  return renderProblem?.(error) ?? <Problem problem={error} onRetry={() => void refetch()} />;
}

/** The source of the answer, once it has arrived. */
export function SourceOf<B>({ query: { data }, isOpen }: { readonly query: Query<B>; readonly isOpen?: boolean }) {
  // Every JSON answer has a receipt, except those that need no key.
  return data && <Source answer={data as StackAnswer<Signed>} isOpen={isOpen} />;
}

interface AnswerCardProps<P extends StackPath> extends RequestOptions {
  readonly title: ReactNode;
  readonly path: P;
  readonly input: StackInput<P>;
  readonly actions?: ReactNode;
  readonly renderProblem?: (problem: StackProblem) => ReactNode;
  /** The source is initially expanded. */
  readonly isOpen?: boolean;
  readonly width?: 'half' | 'full';
  readonly children: (body: StackPaths[P]['body']) => ReactNode;
}

/** A card that requests its content, with its source below it. */
export function AnswerCard<P extends StackPath>(props: AnswerCardProps<P>) {
  const { title, path, input, actions, renderProblem, isOpen = false, width = 'full', children, ...options } = props;
  const query = useStack(path, input, options);
  return (
    <Card title={title} width={width} actions={actions} foot={query.data && <SourceOf query={query} isOpen={isOpen} />}>
      <Answer query={query} renderProblem={renderProblem}>
        {children}
      </Answer>
    </Card>
  );
}

/** An error message with its remedy. */
export function Problem({ problem, onRetry }: { readonly problem: StackProblem; readonly onRetry?: () => void }) {
  const { code, title, detail, quota, requestId, retryAfterSeconds } = problem;
  const retry = onRetry && <Retry onRetry={onRetry} />;
  switch (code) {
    case 'missing_key':
    case 'invalid_key':
      return <KeyNeeded isRefused={code === 'invalid_key'} />;
    case 'quota_exceeded':
      return (
        <Notice title="The daily quota of this API key is used up" tone="warn" actions={<KeyForm />}>
          <p>
            {quota?.resetsAt ? `The quota resets at ${formatTime(quota.resetsAt.getTime())}.` : detail} Pages that are
            already loaded stay available.
          </p>
        </Notice>
      );
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
        <Notice title={title} actions={retryAfterSeconds === null ? <Link to="/">Search</Link> : retry}>
          <p>{detail}</p>
        </Notice>
      );
    default:
      return (
        <Notice title={title} tone="bad" actions={retry}>
          <p>{detail}</p>
          {requestId && <p className="soft small">Request ID: {requestId}</p>}
        </Notice>
      );
  }
}

function KeyNeeded({ isRefused }: { readonly isRefused: boolean }) {
  return (
    <Notice title={isRefused ? 'Invalid API key' : 'An API key is required'} actions={<FreeKey create={getFreeKey} />}>
      <p>
        {isRefused ? 'The key may have been revoked, or may belong to another service. ' : ''}A free key gives you 50
        requests a day without an account. It is stored in this browser.
      </p>
      <KeyForm />
    </Notice>
  );
}

/** A form for an existing key. */
export function KeyForm() {
  const [text, setText] = useState('');
  return (
    <form
      className="fields"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') setKey(text.trim());
      }}
    >
      <label className="field">
        Use an existing key
        <input
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="ssk_…"
          autoComplete="off"
          spellCheck={false}
        />
      </label>
      <Button type="submit">Save</Button>
    </form>
  );
}
