// Every page of the explorer with its path. A page's script is loaded when it is first asked for; its address holds its whole state.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { NotFound, WentWrong } from './frame/no-page.tsx';
import { loaded } from './frame/page-load.ts';
import { Shell } from './frame/shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

/** Words and numbers of an address as they stand there; each page reads its own. */
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
    component: lazyRouteComponent(() => loaded(import('./home/home-page.tsx')), 'Home'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/start',
    component: lazyRouteComponent(() => loaded(import('./home/start-page.tsx')), 'Start'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/search',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./search/search-page.tsx')), 'Search'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/domain/$domain',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./domain/domain-page.tsx')), 'Domain'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/provider/$provider',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./provider/provider-page.tsx')), 'Provider'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/compare',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./compare/compare-page.tsx')), 'Compare'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/market',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./market/market-page.tsx')), 'Market'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/migrations',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./migrations/migrations-page.tsx')), 'Migrations'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/security',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./security/security-page.tsx')), 'Security'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/alerts',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./alerts/alerts-page.tsx')), 'Alerts'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/advisories',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./advisories/advisories-page.tsx')), 'Advisories'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/feeds',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./feeds/feeds-page.tsx')), 'Feeds'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/feeds/$domain',
    component: lazyRouteComponent(() => loaded(import('./feeds/feeds-page.tsx')), 'FeedDomain'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/live',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./live/live-page.tsx')), 'Live'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/status',
    component: lazyRouteComponent(() => loaded(import('./status/status-page.tsx')), 'Status'),
  }),
];

export const router = createRouter({
  routeTree: root.addChildren(pages),
  defaultPreload: 'intent',
  // Within the frame, so that the ways to other pages stay.
  defaultErrorComponent: WentWrong,
  scrollRestoration: true,
  // Addresses are to be read and typed: `?category=dns`, and no quotes around it.
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
