// The search box: a combobox (WAI-ARIA 1.2) with suggestions. The focus stays in the field; arrow keys move the selection.
import './search-box.css';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { formatName } from '../../ui/formats.ts';
import { hrefOf, type Suggestion, submitTarget, useSuggestions } from './suggestions.ts';

/** `isLarge`: on the home page. Only one is shown at a time: the shortcut `/` finds it by its id. */
export function SearchBox({ isLarge = false }: { readonly isLarge?: boolean }) {
  const id = useId();
  const navigate = useNavigate();
  const router = useRouter();
  // The number of the last submission, which later input makes obsolete.
  const submission = useRef(0);
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  // Not by index: the suggestions may change while one is selected.
  const [chosenHref, setChosenHref] = useState<string | null>(null);
  const suggestions = useSuggestions(text);
  const chosen = suggestions.findIndex((suggestion) => hrefOf(suggestion) === chosenHref);
  const setChosen = (index: number) => setChosenHref(suggestions[index] ? hrefOf(suggestions[index]) : null);
  const isShown = isOpen && suggestions.length > 0;
  const optionId = (i: number) => `${id}-${i}`;

  const close = () => {
    setOpen(false);
    setChosenHref(null);
  };
  const go = (suggestion: Suggestion) => {
    close();
    setText('');
    field.current?.blur();
    void navigate({ href: hrefOf(suggestion) });
  };
  /** A later text, submission or page takes precedence. */
  const submit = async (given: string) => {
    submission.current += 1;
    const [number, from] = [submission.current, router.latestLocation.href];
    const target = await submitTarget(given);
    if (submission.current === number && router.latestLocation.href === from) go(target);
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
          else if (text.trim() !== '') void submit(text);
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
            submission.current += 1;
            setText(event.target.value);
            setOpen(true);
            setChosenHref(null);
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
          <Button kind="primary" type="submit">
            Search
          </Button>
        )}
      </form>
      <div id={`${id}-list`} role="listbox" aria-label="Suggestions" className="suggestions" hidden={!isShown}>
        {isShown &&
          suggestions.map((suggestion, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field, which keeps the focus
            <div
              key={hrefOf(suggestion)}
              id={optionId(i)}
              role="option"
              aria-selected={i === chosen}
              tabIndex={-1}
              className="suggestion"
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => go(suggestion)}
            >
              <span className="ellipsis">{suggestion.name}</span>
              {suggestion.kind !== 'search' && <span className="small soft">{` ${formatName(suggestion.kind)}`}</span>}
            </div>
          ))}
      </div>
    </search>
  );
}
