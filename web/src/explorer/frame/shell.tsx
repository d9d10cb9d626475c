// The frame of every page: name, search box, navigation, and quota of the API key.
import { createLink, Link, Outlet, useRouterState } from '@tanstack/react-router';
import {
  type ComponentProps,
  Fragment,
  forwardRef,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { Dialog } from '../../ui/controls/dialog.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { ThemeSwitch } from '../../ui/theme/theme-switch.tsx';
import { useConnection } from '../answer/connection.ts';
import { useKey, useQuota } from '../answer/session.ts';
import { SearchBox } from '../search/search-box.tsx';
import { useSite } from '../site.ts';
import { PAGES } from './navigation.ts';
import { setShortcuts, useAreShortcutsOn, useShortcuts } from './shortcuts.ts';

export function Shell() {
  const { chatUrl, isSimulated } = useSite();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const [isOpen, setOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  useShortcuts({ onHelp: useCallback(() => setHelpOpen(true), []) });
  useFocusOnPage(path);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the page changes
  useEffect(() => setOpen(false), [path]);
  return (
    <>
      <a className="skip" href="#content">
        Skip to content
      </a>
      <header className="bar top">
        <button
          className="button menu"
          type="button"
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          <span aria-hidden="true">☰</span>
          <span className="hidden-text">Menu</span>
        </button>
        <UnmarkedLink to="/" className="brand">
          <img src="/favicon.svg" alt="" width="26" height="26" />
          Strata
        </UnmarkedLink>
        {/* The home page has its own, larger search box. */}
        {path === '/' ? <div className="search-box" /> : <SearchBox />}
        {chatUrl !== undefined && (
          <a href={chatUrl} className="top-chat nav-link">
            Chat
          </a>
        )}
        <QuotaLink />
        <ThemeSwitch />
      </header>
      <ConnectionBar />
      <div className="frame">
        <Navigation chatUrl={chatUrl} isOpen={isOpen} onClose={() => setOpen(false)} onHelp={() => setHelpOpen(true)} />
        <main id="content" tabIndex={-1} className="content">
          <Outlet />
          <footer className="page-foot screen-only small soft">
            {isSimulated && 'Demo on a simulated internet: all domains are invented. '}
            Alpha data, provided without warranty. Every answer is signed.
          </footer>
        </main>
      </div>
      {isHelpOpen && <Keyboard onClose={() => setHelpOpen(false)} />}
    </>
  );
}

/** A banner while the service cannot be reached. */
function ConnectionBar() {
  const connection = useConnection();
  return (
    <div role="status" className="banner">
      {connection === 'offline' &&
        'You are offline. Loaded data stays visible; missing data is requested when you are online again.'}
      {connection === 'unreachable' &&
        'The service does not respond. Loaded data stays visible; this page retries every few seconds.'}
    </div>
  );
}

/**
 * After navigation, moves the focus to the content, so that keyboard and screen reader users start there. Does not move it
 * while the user is typing, for example after pressing `/` before the page was loaded.
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

interface NavigationProps {
  readonly chatUrl: string | undefined;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onHelp: () => void;
}

function Navigation({ chatUrl, isOpen, onClose, onHelp }: NavigationProps) {
  // A layout effect, since an effect after painting could miss an immediate Escape.
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
    <nav id="navigation" className={`navigation screen-only ${isOpen ? 'open' : ''}`} aria-label="Pages">
      <ul>
        {PAGES.map(([name, to]) => (
          <li key={to}>
            <Link to={to} className="nav-link" activeOptions={{ exact: to === '/', includeSearch: false }}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
      <ul className="navigation-foot small">
        {chatUrl !== undefined && (
          <li className="navigation-chat">
            <a href={chatUrl} className="nav-link">
              Chat
            </a>
          </li>
        )}
        <li>
          <a href="/reference" className="nav-link">
            API reference
          </a>
        </li>
        <li className="navigation-keys">
          <button type="button" className="nav-link" onClick={onHelp}>
            Keyboard shortcuts
          </button>
        </li>
      </ul>
    </nav>
  );
}

/** The remaining daily quota of the API key. */
function QuotaLink() {
  const key = useKey();
  const remaining = useQuota()?.remaining ?? null;
  if (key === undefined) {
    return (
      <UnmarkedLink to="/start" className="button small quota">
        Get a key
      </UnmarkedLink>
    );
  }
  if (remaining === null) return null;
  return (
    <UnmarkedLink to="/start" className="quota small" title="Remaining requests today; resets at midnight UTC">
      {formatNumber(remaining)} left<span className="hidden-text"> of today's requests</span>
    </UnmarkedLink>
  );
}

/** A link that is never marked as current; only the navigation marks the current page. */
const UnmarkedLink = createLink(
  forwardRef<HTMLAnchorElement, ComponentProps<'a'>>(({ 'aria-current': _mark, ...props }, ref) => (
    <a {...props} ref={ref} />
  )),
);

/** The keys to press one after the other, and what they do. */
const SHORTCUTS: readonly (readonly [keys: string, meaning: string])[] = [
  ['/', 'Search'],
  ['?', 'Show shortcuts'],
  ...PAGES.map(([name, , letter]) => [`g${letter}`, name] as const),
];

function Keyboard({ onClose }: { readonly onClose: () => void }) {
  const areOn = useAreShortcutsOn();
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <label className="check">
        <input type="checkbox" checked={areOn} onChange={({ target }) => setShortcuts(target.checked)} />
        Enable shortcuts
      </label>
      <dl className={areOn ? 'facts' : 'facts soft'}>
        {SHORTCUTS.map(([keys, meaning]) => (
          <Fragment key={keys}>
            <dt>
              {[...keys].map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </Fragment>
        ))}
      </dl>
    </Dialog>
  );
}
