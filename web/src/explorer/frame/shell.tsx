// What surrounds every page: the name, the search box, the ways to the others, the key and what is left of its day.
import { createLink, Link, Outlet, useRouterState } from '@tanstack/react-router';
import { type ComponentProps, forwardRef, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { formatNumber } from '../../ui/formats.ts';
import { ThemeSwitch } from '../../ui/theme/theme-switch.tsx';
import { useKey, useQuota } from '../answer/session.ts';
import { SearchBox } from '../search/search-box.tsx';
import { useSite } from '../site.ts';
import { ConnectionBar } from './connection-bar.tsx';
import { Keyboard } from './keyboard.tsx';
import { PAGES } from './navigation.ts';
import { useShortcuts } from './shortcuts.ts';

export function Shell() {
  const { chatUrl, isSimulated } = useSite();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const [isOpen, setOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  useShortcuts({ onHelp: useCallback(() => setHelpOpen(true), []) });
  useFocusOnPage(path);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is the reason to close
  useEffect(() => setOpen(false), [path]);
  return (
    <>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="bar top">
        <button
          className="button menu"
          type="button"
          aria-expanded={isOpen}
          aria-controls="ways"
          onClick={() => setOpen(!isOpen)}
        >
          <span aria-hidden="true">☰</span>
          <span className="hidden-text">Menu</span>
        </button>
        <UnmarkedLink to="/" className="brand">
          <img src="/favicon.svg" alt="" width="26" height="26" />
          <span className="brand-name">Strata</span>
        </UnmarkedLink>
        {/* The first page has a larger one of its own. */}
        {path === '/' ? <div className="search-box" /> : <SearchBox />}
        {chatUrl !== undefined && (
          <a href={chatUrl} className="top-chat">
            Chat
          </a>
        )}
        <Day />
        <ThemeSwitch />
      </header>
      <ConnectionBar />
      <div className="frame">
        <Ways chatUrl={chatUrl} isOpen={isOpen} onClose={() => setOpen(false)} onHelp={() => setHelpOpen(true)} />
        <main id="content" tabIndex={-1}>
          <Outlet />
          <footer className="page-foot small soft">
            {isSimulated && 'A demo on a simulated internet: every domain here is invented. '}
            Alpha data, without any guarantee. Every answer is signed.
          </footer>
        </main>
      </div>
      {isHelpOpen && <Keyboard onClose={() => setHelpOpen(false)} />}
    </>
  );
}

/**
 * After the way to another page the focus is at its beginning, so that the keyboard goes on there and its name is read out;
 * but whoever is already typing, as after a `/` that came before the page did, goes on typing.
 */
function useFocusOnPage(path: string): void {
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    if (document.activeElement?.matches('input, textarea, select')) return;
    document.getElementById('content')?.focus({ preventScroll: true });
  }, [path]);
}

interface WaysProps {
  readonly chatUrl: string | undefined;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onHelp: () => void;
}

function Ways({ chatUrl, isOpen, onClose, onHelp }: WaysProps) {
  // Before the next key: an effect after painting would miss an Escape that comes at once.
  useLayoutEffect(() => {
    if (!isOpen) return;
    const onKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return;
      onClose();
      document.querySelector<HTMLElement>('.menu')?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [isOpen, onClose]);
  return (
    <nav id="ways" className={isOpen ? 'ways open' : 'ways'} aria-label="Pages">
      <ul>
        {PAGES.map(([name, to]) => (
          <li key={to}>
            <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
      <ul className="ways-foot small">
        {chatUrl !== undefined && (
          <li className="ways-chat">
            <a href={chatUrl}>Chat</a>
          </li>
        )}
        <li>
          <a href="/reference">API reference</a>
        </li>
        <li className="ways-keys">
          <button type="button" className="plain-button" onClick={onHelp}>
            Keyboard
          </button>
        </li>
      </ul>
    </nav>
  );
}

/** What is left of the key's day. */
function Day() {
  const key = useKey();
  const remaining = useQuota()?.remaining ?? null;
  if (key === undefined) {
    return (
      <UnmarkedLink to="/start" className="button small day">
        Get a key
      </UnmarkedLink>
    );
  }
  if (remaining === null) return null;
  return (
    <UnmarkedLink to="/start" className="day small" title="Requests left today; new ones at midnight UTC">
      {formatNumber(remaining)} left<span className="hidden-text"> of today's requests</span>
    </UnmarkedLink>
  );
}

/** A link that is never marked as the page one is on: the list of pages has that mark. */
const UnmarkedLink = createLink(
  forwardRef<HTMLAnchorElement, ComponentProps<'a'>>(({ 'aria-current': _mark, ...props }, ref) => (
    <a {...props} ref={ref} />
  )),
);
