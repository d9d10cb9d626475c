// Every page of the explorer with its path. A page's script is loaded when it is first asked for; its address holds its whole state.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { NotFound, WentWrong } from './no-page.tsx';
import { loaded } from './page-load.ts';
import { Shell } from './shell.tsx';

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
    component: lazyRouteComponent(() => loaded(import('./pages/home.tsx')), 'Home'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/start',
    component: lazyRouteComponent(() => loaded(import('./pages/start.tsx')), 'Start'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/search',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./pages/search.tsx')), 'Search'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/domain/$domain',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./pages/domain.tsx')), 'Domain'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/provider/$provider',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./pages/provider.tsx')), 'Provider'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/compare',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./pages/compare.tsx')), 'Compare'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/market',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./pages/market.tsx')), 'Market'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/migrations',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./pages/migrations.tsx')), 'Migrations'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/security',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./pages/security.tsx')), 'Security'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/alerts',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./pages/alerts.tsx')), 'Alerts'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/advisories',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./pages/advisories.tsx')), 'Advisories'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/feeds',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./pages/feeds.tsx')), 'Feeds'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/feeds/$domain',
    component: lazyRouteComponent(() => loaded(import('./pages/feeds.tsx')), 'FeedDomain'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/live',
    validateSearch,
    component: lazyRouteComponent(() => loaded(import('./pages/live.tsx')), 'Live'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/status',
    component: lazyRouteComponent(() => loaded(import('./pages/status.tsx')), 'Status'),
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
