// Pages for people: the explorer, and the API reference.
import path from 'node:path';
import { type HttpServer, serveSite } from '@strata/http';
import type { StackApp } from '../context.ts';
import { serveSuggestions } from './suggest.ts';

const TITLE = 'Strata API reference';
const SITE = path.join(import.meta.dirname, '../../../../web/dist');

/** Where the explorer answers; its router in web/src/explorer knows the same paths. */
const EXPLORER_ROUTES = [
  ...[
    '/',
    '/start',
    '/search',
    '/domain/:domain',
    '/provider/:provider',
    '/compare',
    '/market',
    '/migrations',
    '/security',
  ],
  ...['/alerts', '/advisories', '/feeds', '/feeds/:domain', '/live', '/status'],
];

/** The reference brings its own script and styles inline. */
const REFERENCE_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the explorer, what it suggests, and `/reference`. Neither loads anything from another host. */
export async function servePages(
  fastify: HttpServer['fastify'],
  app: Pick<StackApp, 'openApi' | 'index' | 'rulebook' | 'now'>,
  site: { readonly exampleDomain: () => string; readonly chatUrl: string | undefined; readonly isSimulated: boolean },
): Promise<void> {
  fastify.addHook('onSend', async (request, reply) => {
    const isPage = String(reply.getHeader('content-type') ?? '').startsWith('text/html');
    if (isPage && request.url.startsWith('/reference')) reply.header('content-security-policy', REFERENCE_POLICY);
  });
  const api = ['/stack/', '/ledger/', '/.well-known/', '/assets/', '/reference/'];
  await serveSite(fastify, { directory: SITE, page: 'explorer.html', routes: EXPLORER_ROUTES, api });
  // What the explorer has to know of this installation before anybody has a key.
  fastify.get('/site.json', (_request, reply) =>
    reply.header('cache-control', 'no-cache').send({
      example_domain: site.exampleDomain(),
      chat_url: site.chatUrl ?? null,
      is_simulated: site.isSimulated,
    }),
  );
  serveSuggestions(fastify, app);
  // Some megabytes of script, which a scan without a server need not load.
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  await fastify.register(scalar, {
    routePrefix: '/reference',
    configuration: {
      content: app.openApi,
      title: TITLE,
      pageTitle: TITLE,
      metaData: { title: TITLE },
      favicon: '/favicon.svg',
      // Everything on this page comes from this server: no fonts, proxy, telemetry or assistants of others.
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
      // So that the field for the key is there to begin with.
      authentication: { preferredSecurityScheme: 'StackKey' },
      // Opens on the introduction, with all tags in sight; the first tag alone would fill the list with the ledger's routes.
      defaultOpenFirstTag: false,
    },
  });
}
