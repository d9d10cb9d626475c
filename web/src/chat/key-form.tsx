// The reader's key: kept in this browser, sent to this service alone.
import { useId, useState } from 'react';
import { Command } from '../ui/command.tsx';
import { setKey, useKey } from './key.ts';

export function KeyForm() {
  const key = useKey();
  const [text, setText] = useState('');
  const id = useId();
  return (
    <div className="chat-key">
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
          {key !== undefined && (
            <button className="button" type="button" onClick={() => setKey(undefined)}>
              Forget it
            </button>
          )}
        </div>
      </form>
      <p className="small soft">
        It stays in this browser and is sent to this service alone. Whoever runs the service makes keys; the demo prints
        one when it is ready.
      </p>
      <Command text="npx strata inference keys create --label me" />
    </div>
  );
}
