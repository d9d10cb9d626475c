// Pages for people: a front page with a key button, and the API reference.
import type { HttpServer } from '@strata/http';
import { frontPage } from './front-page.ts';

/** Serves `/` and `/reference`. Neither loads anything from another host. */
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
  // Some megabytes of script, which a scan without a server need not load.
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  await fastify.register(scalar, {
    routePrefix: '/reference',
    configuration: {
      content: openApi,
      title: 'Strata API reference',
      // Everything on this page comes from this server: no fonts, proxy, telemetry or assistants of others.
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
      defaultOpenAllTags: false,
    },
  });
}
