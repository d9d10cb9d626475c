// The routes of the explorer. The script of a page is pageModule on first use; the URL holds its complete state.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
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

const pages = [
  createRoute({
    getParentRoute: () => root,
    path: '/',
    component: lazyRouteComponent(() => pageModule(import('./home/home-page.tsx')), 'Home'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/start',
    component: lazyRouteComponent(() => pageModule(import('./home/start-page.tsx')), 'Start'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/search',
    validateSearch,
    component: lazyRouteComponent(() => pageModule(import('./search/search-page.tsx')), 'Search'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/domain/$domain',
    validateSearch,
    component: lazyRouteComponent(() => pageModule(import('./domain/domain-page.tsx')), 'Domain'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/provider/$provider',
    validateSearch,
    component: lazyRouteComponent(() => pageModule(import('./provider/provider-page.tsx')), 'Provider'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/compare',
    validateSearch,
    component: lazyRouteComponent(() => pageModule(import('./compare/compare-page.tsx')), 'Compare'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/market',
    validateSearch,
    component: lazyRouteComponent(() => pageModule(import('./market/market-page.tsx')), 'Market'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/migrations',
    validateSearch,
    component: lazyRouteComponent(() => pageModule(import('./migrations/migrations-page.tsx')), 'Migrations'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/security',
    validateSearch,
    component: lazyRouteComponent(() => pageModule(import('./security/security-page.tsx')), 'Security'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/alerts',
    validateSearch,
    component: lazyRouteComponent(() => pageModule(import('./alerts/alerts-page.tsx')), 'Alerts'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/advisories',
    validateSearch,
    component: lazyRouteComponent(() => pageModule(import('./advisories/advisories-page.tsx')), 'Advisories'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/feeds',
    validateSearch,
    component: lazyRouteComponent(() => pageModule(import('./feeds/feeds-page.tsx')), 'Feeds'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/feeds/$domain',
    component: lazyRouteComponent(() => pageModule(import('./feeds/feeds-page.tsx')), 'FeedDomain'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/live',
    validateSearch,
    component: lazyRouteComponent(() => pageModule(import('./live/live-page.tsx')), 'Live'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/status',
    component: lazyRouteComponent(() => pageModule(import('./status/status-page.tsx')), 'Status'),
  }),
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
