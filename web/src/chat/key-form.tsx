// The API key form: request a free key if the service offers them, or enter one.
import { useId, useState } from 'react';
import { Button, Command, CopyButton } from '../ui/controls/button.tsx';
import { FreeKey } from '../ui/controls/free-key.tsx';
import { formatTime } from '../ui/formats.ts';
import { Loading } from '../ui/states.tsx';
import { InferenceClient, InferenceProblem, setKey, useKey } from './inference.ts';
import { onLink } from './location.ts';
import { useSite } from './site.ts';

export function KeyForm() {
  const site = useSite();
  const key = useKey();
  if (!site) return <Loading />;
  const isFree = site.freeKeysPerDay > 0;
  return (
    <div className="chat-key stack">
      {isFree && key === undefined && (
        <p className="row">
          <FreeKey create={createKey} />
          <span className="small soft">No sign-up required.</span>
        </p>
      )}
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
        {!isFree && ' The operator of the service creates keys; the demo prints one when it is ready.'}{' '}
        <a href="/admin" onClick={onLink}>
          Administration
        </a>
      </p>
      {!isFree && <Command text="npx strata inference keys create --label me" />}
    </div>
  );
}

async function createKey(): Promise<void> {
  try {
    setKey((await InferenceClient.createKey(location.origin)).key);
  } catch (error) {
    throw new Error(messageOf(error, Date.now()), { cause: error });
  }
}

function messageOf(error: unknown, now: number): string {
  if (!(error instanceof InferenceProblem)) return 'The service did not return a key.';
  const { code, message, retryAfterSeconds } = error;
  if (code === 'network') return 'The service cannot be reached: you are offline, or it is not running.';
  if (retryAfterSeconds === null) return message;
  return `${message} Try again after ${formatTime(now + retryAfterSeconds * 1_000)}.`;
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
        <Button kind="primary" type="submit">
          Save
        </Button>
        {key !== undefined && <CopyButton text={key} label="Copy key" />}
        {key !== undefined && <Button onClick={() => setKey(undefined)}>Remove key</Button>}
      </div>
    </form>
  );
}
