// The API key form: request a free key if the service offers them, or enter one.
import { useId, useState } from 'react';
import { Command } from '../ui/command.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { formatTime } from '../ui/formats.ts';
import { Loading } from '../ui/states.tsx';
import { InferenceClient, InferenceProblem } from './inference.ts';
import { setKey, useKey } from './key.ts';
import { useSite } from './site.ts';

export function KeyForm() {
  const site = useSite();
  const key = useKey();
  if (!site) return <Loading lines={2} />;
  const isFree = site.freeKeysPerDay > 0;
  return (
    <div className="chat-key">
      {isFree && key === undefined && <FreeKey />}
      {isFree && key === undefined ? (
        <details>
          <summary>I already have a key</summary>
          <OwnKey />
        </details>
      ) : (
        <OwnKey />
      )}
      <p className="small soft">
        The key is stored in this browser and sent only to this service.
        {!isFree && ' The operator of the service creates keys; the demo prints one when it is ready.'}
      </p>
      {!isFree && <Command text="npx strata inference keys create --label me" />}
    </div>
  );
}

/** Requests a free key without sign-up. */
function FreeKey() {
  const [state, setState] = useState<'asking' | { readonly problem: string } | null>(null);
  const get = async () => {
    // A second press would consume another of the keys allowed per address.
    if (state === 'asking') return;
    setState('asking');
    try {
      setKey((await InferenceClient.createKey(location.origin)).key);
      setState(null);
    } catch (error) {
      setState({ problem: messageOf(error, Date.now()) });
    }
  };
  return (
    <div className="chat-free-key">
      <button className="button primary" type="button" aria-disabled={state === 'asking'} onClick={() => void get()}>
        {state === 'asking' ? 'Creating a key …' : 'Get a free key'}
      </button>
      <span className="small soft">No sign-up required.</span>
      <p className="small field-problem" role="alert">
        {state !== null && state !== 'asking' && state.problem}
      </p>
    </div>
  );
}

function messageOf(error: unknown, now: number): string {
  if (!(error instanceof InferenceProblem)) return 'The service did not return a key.';
  const { code, message, retryAfterSeconds } = error;
  if (code === 'network') return 'The service cannot be reached: you are offline, or it is not running.';
  if (retryAfterSeconds === null) return message;
  return `${message} Try again after ${formatTime(new Date(now + retryAfterSeconds * 1_000).toISOString())}.`;
}

function OwnKey() {
  const key = useKey();
  const [text, setText] = useState('');
  const id = useId();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === '') return;
        setKey(text.trim());
        setText('');
      }}
    >
      <label htmlFor={id}>{key === undefined ? 'API key' : `Current key: ${key.slice(0, 6)}…. Replace with`}</label>
      <div className="actions">
        <input
          id={id}
          type="password"
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="sk-…"
          autoComplete="off"
          spellCheck={false}
        />
        <button className="button primary" type="submit">
          Save
        </button>
        {key !== undefined && <CopyButton text={key} label="Copy key" />}
        {key !== undefined && (
          <button className="button" type="button" onClick={() => setKey(undefined)}>
            Remove key
          </button>
        )}
      </div>
    </form>
  );
}
