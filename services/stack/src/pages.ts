// Pages for people: a front page with a key button, and the API reference.
import type { HttpServer } from '@strata/http';
import { FAVICON, frontPage } from './front-page.ts';

const TITLE = 'Strata API reference';

/** Serves `/`, `/reference` and the icon of both. Neither loads anything from another host. */
export async function servePages(
  fastify: HttpServer['fastify'],
  { openApi, exampleDomain }: { readonly openApi: Record<string, unknown>; readonly exampleDomain: string },
): Promise<void> {
  const contentSecurityPolicy =
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  fastify.addHook('onSend', async (_request, reply) => {
    if (String(reply.getHeader('content-type') ?? '').startsWith('text/html')) {
      reply.header('content-security-policy', contentSecurityPolicy);
      reply.header('x-content-type-options', 'nosniff');
      reply.header('referrer-policy', 'no-referrer');
    }
  });
  fastify.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(frontPage(exampleDomain)));
  // Browsers ask for the second where a page names none, such as an answer in JSON; they go by the type, not the name.
  for (const url of ['/favicon.svg', '/favicon.ico']) {
    fastify.get(url, (_request, reply) =>
      reply.type('image/svg+xml').header('cache-control', 'public, max-age=86400').send(FAVICON),
    );
  }
  // Some megabytes of script, which a scan without a server need not load.
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  await fastify.register(scalar, {
    routePrefix: '/reference',
    configuration: {
      content: openApi,
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
