// The search box: a combobox (WAI-ARIA 1.2) that suggests while one types. Focus stays in the field; the list follows the arrows.
import './search-box.css';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { type Goal, goalOf, useGoals } from './suggestions.ts';

/** `isLarge` where the page is about it. Only one is shown at a time: the shortcut `/` finds it by its id. */
export function SearchBox({ isLarge = false }: { readonly isLarge?: boolean }) {
  const id = useId();
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  // By what it is and not by its place: other suggestions may come while one is chosen.
  const [chosenKey, setChosenKey] = useState<string | null>(null);
  const goals = useGoals(text);
  const chosen = goals.findIndex((goal) => keyOf(goal) === chosenKey);
  const setChosen = (place: number) => setChosenKey(goals[place] ? keyOf(goals[place]) : null);
  const isShown = isOpen && goals.length > 0;
  const optionId = (i: number) => `${id}-${i}`;

  const close = () => {
    setOpen(false);
    setChosenKey(null);
  };
  const go = (goal: Goal) => {
    close();
    setText('');
    field.current?.blur();
    if (goal.kind === 'domain') void navigate({ to: '/domain/$domain', params: { domain: goal.domain } });
    else if (goal.kind === 'provider')
      void navigate({ to: '/provider/$provider', params: { provider: goal.provider } });
    else void navigate({ to: '/search', search: { q: goal.q } });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      if (goals.length === 0) return;
      event.preventDefault();
      setOpen(true);
      // One place beyond the ends is the field itself.
      const places = goals.length + 1;
      setChosen(isShown ? ((chosen + 1 + (key === 'ArrowDown' ? 1 : -1) + places) % places) - 1 : 0);
    } else if (key === 'Escape') {
      // The first closes the list, the second empties the field, as browsers do.
      if (isShown) event.preventDefault();
      close();
    }
  };
  return (
    <search className={isLarge ? 'search-box large' : 'search-box'}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const goal = isShown ? goals[chosen] : undefined;
          if (goal) go(goal);
          else if (text.trim() !== '') go(goalOf(text, goals));
          // The page has what else can be searched by.
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
          goals.map((goal, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the field's, which keeps the focus
            <div
              key={keyOf(goal)}
              id={optionId(i)}
              role="option"
              aria-selected={i === chosen}
              tabIndex={-1}
              className="suggestion"
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => go(goal)}
            >
              <GoalLine goal={goal} />
            </div>
          ))}
      </div>
    </search>
  );
}

function GoalLine({ goal }: { readonly goal: Goal }) {
  switch (goal.kind) {
    case 'domain':
      return (
        <>
          <span className="suggestion-name">{goal.domain}</span> <span className="small soft">Domain</span>
        </>
      );
    case 'provider':
      return (
        <>
          <span className="suggestion-name">{goal.name}</span> <span className="small soft">Provider</span>
        </>
      );
    case 'search':
      return <span className="suggestion-name">Search for “{goal.q}”</span>;
    default:
      return goal satisfies never;
  }
}

function keyOf(goal: Goal): string {
  switch (goal.kind) {
    case 'domain':
      return `domain ${goal.domain}`;
    case 'provider':
      return `provider ${goal.provider}`;
    case 'search':
      return 'search';
    default:
      return goal satisfies never;
  }
}
