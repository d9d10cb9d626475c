// The routes of the explorer. The script of a page is loaded on first use; the URL holds its complete state.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { NotFound, PageError } from './frame/error-pages.tsx';
import { pageModule } from './frame/page-load.ts';
import { Shell } from './frame/shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

/** Keeps the search parameters as strings; each page parses its own. */
const validateSearch = (search: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, String(value)]],
    ),
  );

/** A route whose page is loaded on first use; `name` is the exported component. */
const page = <P extends string, N extends string>(
  path: P,
  load: () => Promise<{ readonly [name in N]: () => ReactNode }>,
  name: N,
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch,
    component: lazyRouteComponent(() => pageModule(load()), name),
  });

const pages = [
  page('/', () => import('./home/home-page.tsx'), 'Home'),
  page('/start', () => import('./home/start-page.tsx'), 'Start'),
  page('/search', () => import('./search/search-page.tsx'), 'Search'),
  page('/lookup', () => import('./lookup/lookup-page.tsx'), 'Lookup'),
  page('/domain/$domain', () => import('./domain/domain-page.tsx'), 'Domain'),
  page('/provider/$provider', () => import('./provider/provider-page.tsx'), 'Provider'),
  page('/pivot', () => import('./records/pivot-page.tsx'), 'Pivot'),
  page('/compare', () => import('./compare/compare-page.tsx'), 'Compare'),
  page('/market', () => import('./market/market-page.tsx'), 'Market'),
  page('/migrations', () => import('./migrations/migrations-page.tsx'), 'Migrations'),
  page('/security', () => import('./security/security-page.tsx'), 'Security'),
  page('/alerts', () => import('./alerts/alerts-page.tsx'), 'Alerts'),
  page('/advisories', () => import('./advisories/advisories-page.tsx'), 'Advisories'),
  page('/feeds', () => import('./feeds/feeds-page.tsx'), 'Feeds'),
  page('/feeds/$domain', () => import('./feeds/feeds-page.tsx'), 'FeedDomain'),
  page('/live', () => import('./live/live-page.tsx'), 'Live'),
  page('/watchlists', () => import('./watchlists/watchlists-page.tsx'), 'Watchlists'),
  page('/calibration', () => import('./calibration/calibration-page.tsx'), 'Calibration'),
  page('/status', () => import('./status/status-page.tsx'), 'Status'),
];

export const router = createRouter({
  routeTree: root.addChildren(pages),
  defaultPreload: 'intent',
  // Shown within the shell, so that the navigation stays available.
  defaultErrorComponent: PageError,
  scrollRestoration: true,
  // Readable URLs: `?category=dns` without quotes.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(search as Record<string, string>).toString();
    return text === '' ? '' : `?${text}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
