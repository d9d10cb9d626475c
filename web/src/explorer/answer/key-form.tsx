// A form for an existing API key.
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { setKey } from './session.ts';

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
      <Button type="submit">Save</Button>
    </form>
  );
}
