// The search box: a combobox (WAI-ARIA 1.2) with suggestions. The focus stays in the field; arrow keys move the selection.
import './search-box.css';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { type Suggestion, submitTarget, useSuggestions } from './suggestions.ts';

/** `isLarge`: on the home page. Only one is shown at a time: the shortcut `/` finds it by its id. */
export function SearchBox({ isLarge = false }: { readonly isLarge?: boolean }) {
  const id = useId();
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  // By key, not by index: the suggestions may change while one is selected.
  const [chosenKey, setChosenKey] = useState<string | null>(null);
  const suggestions = useSuggestions(text);
  const chosen = suggestions.findIndex((suggestion) => keyOf(suggestion) === chosenKey);
  const setChosen = (index: number) => setChosenKey(suggestions[index] ? keyOf(suggestions[index]) : null);
  const isShown = isOpen && suggestions.length > 0;
  const optionId = (i: number) => `${id}-${i}`;

  const close = () => {
    setOpen(false);
    setChosenKey(null);
  };
  const go = (suggestion: Suggestion) => {
    close();
    setText('');
    field.current?.blur();
    if (suggestion.kind === 'domain') void navigate({ to: '/domain/$domain', params: { domain: suggestion.domain } });
    else if (suggestion.kind === 'provider')
      void navigate({ to: '/provider/$provider', params: { provider: suggestion.provider } });
    else void navigate({ to: '/search', search: { q: suggestion.q } });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      if (suggestions.length === 0) return;
      event.preventDefault();
      setOpen(true);
      // Before the first and after the last suggestion, the field itself is selected.
      const positions = suggestions.length + 1;
      setChosen(isShown ? ((chosen + 1 + (key === 'ArrowDown' ? 1 : -1) + positions) % positions) - 1 : 0);
    } else if (key === 'Escape') {
      // The first press closes the list; the second clears the field, which is the browser's default.
      if (isShown) event.preventDefault();
      close();
    }
  };
  return (
    <search className={isLarge ? 'search-box large' : 'search-box'}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const suggestion = isShown ? suggestions[chosen] : undefined;
          if (suggestion) go(suggestion);
          else if (text.trim() !== '') go(submitTarget(text, suggestions));
          // The search page has more filters.
          else void navigate({ to: '/search' });
        }}
      >
        <label className="hidden-text" htmlFor="search">
          Search domains and providers
        </label>
        <input
          id="search"
          ref={field}
          type="search"
          role="combobox"
          aria-expanded={isShown}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={isShown && chosen >= 0 ? optionId(chosen) : undefined}
          aria-keyshortcuts="/"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setOpen(true);
            setChosenKey(null);
          }}
          onFocus={() => setOpen(true)}
          onBlur={close}
          onKeyDown={onKeyDown}
          placeholder="Domain or provider"
          autoComplete="off"
          autoCapitalize="none"
          maxLength={253}
          spellCheck={false}
        />
        {isLarge && (
          <button className="button primary" type="submit">
            Search
          </button>
        )}
      </form>
      <div id={`${id}-list`} role="listbox" aria-label="Suggestions" className="suggestions" hidden={!isShown}>
        {isShown &&
          suggestions.map((suggestion, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field, which keeps the focus
            <div
              key={keyOf(suggestion)}
              id={optionId(i)}
              role="option"
              aria-selected={i === chosen}
              tabIndex={-1}
              className="suggestion"
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => go(suggestion)}
            >
              <SuggestionLine suggestion={suggestion} />
            </div>
          ))}
      </div>
    </search>
  );
}

function SuggestionLine({ suggestion }: { readonly suggestion: Suggestion }) {
  switch (suggestion.kind) {
    case 'domain':
      return (
        <>
          <span className="suggestion-name">{suggestion.domain}</span> <span className="small soft">Domain</span>
        </>
      );
    case 'provider':
      return (
        <>
          <span className="suggestion-name">{suggestion.name}</span> <span className="small soft">Provider</span>
        </>
      );
    case 'search':
      return <span className="suggestion-name">Search for “{suggestion.q}”</span>;
    default:
      return suggestion satisfies never;
  }
}

function keyOf(suggestion: Suggestion): string {
  switch (suggestion.kind) {
    case 'domain':
      return `domain ${suggestion.domain}`;
    case 'provider':
      return `provider ${suggestion.provider}`;
    case 'search':
      return 'search';
    default:
      return suggestion satisfies never;
  }
}
