// The reader's key: got for free where the service gives keys away, kept in this browser, sent to this service alone.
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
          <summary>I have a key</summary>
          <OwnKey />
        </details>
      ) : (
        <OwnKey />
      )}
      <p className="small soft">
        It stays in this browser and is sent to this service alone.
        {!isFree && ' Whoever runs the service makes keys; the demo prints one when it is ready.'}
      </p>
      {!isFree && <Command text="npx strata inference keys create --label me" />}
    </div>
  );
}

/** One press, no sign-up. */
function FreeKey() {
  const [state, setState] = useState<'asking' | { readonly problem: string } | null>(null);
  const get = async () => {
    // A second press would use up another of the address's keys.
    if (state === 'asking') return;
    setState('asking');
    try {
      setKey((await InferenceClient.createKey(location.origin)).key);
      setState(null);
    } catch (error) {
      setState({ problem: wordsOf(error, Date.now()) });
    }
  };
  return (
    <div className="chat-free-key">
      <button className="button primary" type="button" aria-disabled={state === 'asking'} onClick={() => void get()}>
        {state === 'asking' ? 'Getting a key …' : 'Get a free key'}
      </button>
      <span className="small soft">At once, without signing up.</span>
      <p className="small field-problem" role="alert">
        {state !== null && state !== 'asking' && state.problem}
      </p>
    </div>
  );
}

function wordsOf(error: unknown, now: number): string {
  if (!(error instanceof InferenceProblem)) return 'No key came back.';
  const { code, message, retryAfterSeconds } = error;
  if (code === 'network') return 'The service cannot be reached: either you are offline or it is not running.';
  if (retryAfterSeconds === null) return message;
  return `${message} Try again from ${formatTime(new Date(now + retryAfterSeconds * 1_000).toISOString())} on.`;
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
      <label htmlFor={id}>
        {key === undefined ? 'Your key of this service' : `In use: ${key.slice(0, 6)}…. Another key`}
      </label>
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
          Use it
        </button>
        {key !== undefined && <CopyButton text={key} label="Copy the key" />}
        {key !== undefined && (
          <button className="button" type="button" onClick={() => setKey(undefined)}>
            Forget it
          </button>
        )}
      </div>
    </form>
  );
}
