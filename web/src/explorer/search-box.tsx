// The search box of every page.
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

export function SearchBox() {
  const [text, setText] = useState('');
  const navigate = useNavigate();
  return (
    <search className="search-box">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') void navigate({ to: '/search', search: { q: text.trim() } });
        }}
      >
        <label className="hidden-text" htmlFor="search">
          Search domains and providers
        </label>
        <input
          id="search"
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="Domain or provider"
          autoComplete="off"
          spellCheck={false}
        />
      </form>
    </search>
  );
}
