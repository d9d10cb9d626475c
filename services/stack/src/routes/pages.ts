// HTML pages: the explorer, and the API reference.
import path from 'node:path';
import { type HttpServer, serveSite } from '@strata/http';
import type { StackApp } from '../context.ts';
import { serveSuggestions } from './suggest.ts';

const TITLE = 'Strata API reference';
const SITE = path.join(import.meta.dirname, '../../../../web/dist');

/** Paths of the explorer; its router in web/src/explorer has the same list. */
const EXPLORER_ROUTES = [
  ...[
    '/',
    '/start',
    '/search',
    '/lookup',
    '/domain/:domain',
    '/provider/:provider',
    '/pivot',
    '/compare',
    '/market',
    '/migrations',
    '/security',
  ],
  ...['/alerts', '/calibration', '/advisories', '/feeds', '/feeds/:domain', '/live', '/watchlists', '/status'],
];

/** The reference has inline scripts and styles. */
const REFERENCE_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the explorer, its suggestions, and `/reference`. None of them loads anything from another host. */
export async function servePages(
  fastify: HttpServer['fastify'],
  app: Pick<StackApp, 'openApi' | 'analytics' | 'known' | 'rulebook' | 'store' | 'now'>,
  site: { readonly exampleDomain: () => string; readonly chatUrl: string | undefined; readonly isSimulated: boolean },
): Promise<void> {
  fastify.addHook('onSend', async (request, reply) => {
    const isPage = String(reply.getHeader('content-type') ?? '').startsWith('text/html');
    if (isPage && request.url.startsWith('/reference')) reply.header('content-security-policy', REFERENCE_POLICY);
  });
  const api = ['/stack/', '/email/', '/ledger/', '/.well-known/', '/assets/', '/reference/'];
  await serveSite(fastify, { directory: SITE, page: 'explorer.html', routes: EXPLORER_ROUTES, api });
  // Properties of this installation that the explorer needs before a key exists.
  fastify.get('/site.json', (_request, reply) =>
    reply.header('cache-control', 'no-cache').send({
      example_domain: site.exampleDomain(),
      chat_url: site.chatUrl ?? null,
      is_simulated: site.isSimulated,
    }),
  );
  serveSuggestions(fastify, app);
  // Loaded on demand: some megabytes of script, which a scan without a server does not need.
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  await fastify.register(scalar, {
    routePrefix: '/reference',
    configuration: {
      content: app.openApi,
      title: TITLE,
      pageTitle: TITLE,
      metaData: { title: TITLE },
      favicon: '/favicon.svg',
      // Nothing on this page comes from another server: no fonts, proxy, telemetry or assistants.
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
      // Shows the field for the key initially.
      authentication: { preferredSecurityScheme: 'StackKey' },
      // Opens on the introduction with all tags visible; opening the first tag would fill the list with the ledger's routes.
      defaultOpenFirstTag: false,
    },
  });
}
