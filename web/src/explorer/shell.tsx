// What surrounds every page: the name, the search box, the ways to the others, the key and what is left of its day.
import { type ErrorComponentProps, Link, Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { formatNumber } from '../ui/formats.ts';
import { Notice } from '../ui/states.tsx';
import { ThemeSwitch } from '../ui/theme-switch.tsx';
import { SearchBox } from './search-box.tsx';
import { useSession } from './session.ts';
import { useShortcuts } from './shortcuts.ts';

/** Name, path and the letter that leads there after `g`. */
export const WAYS = [
  ['Home', '/', 'h'],
  ['Market', '/market', 'm'],
  ['Migrations', '/migrations', 'i'],
  ['Security', '/security', 's'],
  ['Alerts', '/alerts', 'a'],
  ['Advisories', '/advisories', 'v'],
  ['Feeds', '/feeds', 'f'],
  ['Live', '/live', 'l'],
  ['Compare', '/compare', 'c'],
  ['Status', '/status', 't'],
  ['Get started', '/start', 'k'],
] as const;

export function Shell() {
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useShortcuts();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is the reason to close
  useEffect(() => setOpen(false), [path]);
  return (
    <>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="top">
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
        <Link to="/" className="brand">
          <img src="/favicon.svg" alt="" width="26" height="26" />
          Strata
        </Link>
        {/* The first page has a larger one of its own. */}
        {path === '/' ? <div className="search-box" /> : <SearchBox />}
        <Day />
        <ThemeSwitch />
      </header>
      <div className="frame">
        <nav id="ways" className={isOpen ? 'ways open' : 'ways'} aria-label="Pages">
          <ul>
            {WAYS.map(([name, to]) => (
              <li key={to}>
                <Link
                  to={to}
                  activeProps={{ className: 'active', 'aria-current': 'page' }}
                  activeOptions={{ exact: to === '/' }}
                >
                  {name}
                </Link>
              </li>
            ))}
          </ul>
          <p className="small soft ways-foot">
            <a href="/reference">API reference</a>
          </p>
        </nav>
        <main id="content" tabIndex={-1}>
          <Outlet />
          <footer className="page-foot small soft">Alpha data, without any guarantee. Every answer is signed.</footer>
        </main>
      </div>
    </>
  );
}

/** What is left of the key's day. */
function Day() {
  const { key, quota } = useSession();
  if (key === undefined) {
    return (
      <Link to="/start" className="button small day">
        Get a key
      </Link>
    );
  }
  if (quota?.remaining === null || quota?.remaining === undefined) return null;
  return (
    <Link to="/start" className="day small" title="Requests left today; new ones at midnight UTC">
      {formatNumber(quota.remaining)} left<span className="hidden-text"> of today's requests</span>
    </Link>
  );
}

export function NotFound() {
  return (
    <Notice title="There is no such page" actions={<Link to="/">Home</Link>}>
      <p>The address may be mistyped, or the page has moved.</p>
    </Notice>
  );
}

export function WentWrong({ error, reset }: ErrorComponentProps) {
  return (
    <Notice
      title="This page has failed"
      tone="bad"
      actions={
        <button className="button" type="button" onClick={reset}>
          Try again
        </button>
      }
    >
      <p className="mono small">{error instanceof Error ? error.message : String(error)}</p>
    </Notice>
  );
}
