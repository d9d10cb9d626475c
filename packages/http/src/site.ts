// Serves a built site: its page at all page routes, immutable files, and a strict content security policy.
import { existsSync } from 'node:fs';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pageSecurity } from './access/security-headers.ts';

export interface Site {
  /** Directory of the build. */
  readonly directory: string;
  /** File of the page, `explorer.html`. */
  readonly page: string;
  /** Routes of the page, in Fastify syntax: `/`, `/domain/:domain`. */
  readonly routes: readonly string[];
  /** API paths: an unknown path below them gets a problem, also in a browser. */
  readonly api?: readonly string[];
}

const sites = new WeakMap<FastifyInstance, Pick<Site, 'page' | 'api'>>();

/**
 * Serves the page for an unknown path to a browser; the page shows that the path does not exist. Undefined if the
 * client does not accept HTML.
 */
export function sendMissingPage(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | undefined {
  const site = sites.get(fastify);
  const isPage = request.method === 'GET' && /\btext\/html\b/.test(request.headers.accept ?? '');
  if (!site || !isPage || site.api?.some((prefix) => request.url.startsWith(prefix))) return undefined;
  reply.headers({ ...pageSecurity, 'cache-control': 'no-cache' });
  return reply.code(404).sendFile(site.page, { cacheControl: false });
}

const NOT_BUILT =
  '<!doctype html><html lang="en"><title>Not built</title><p>The pages of this service are not built. Run <code>npm run build</code> in the checkout and restart the service.</p></html>';

/** Serves the page and its files; without a build the page explains that, and the API works as usual. */
export async function serveSite(fastify: FastifyInstance, { directory, page, routes, api }: Site): Promise<void> {
  const isBuilt = existsSync(path.join(directory, page));
  for (const url of routes) {
    fastify.get(url, (_request, reply) => {
      // File names contain a content hash: only the page itself must be revalidated.
      reply.headers({ ...pageSecurity, 'cache-control': 'no-cache' });
      if (!isBuilt) return reply.code(503).type('text/html; charset=utf-8').send(NOT_BUILT);
      return reply.sendFile(page, { cacheControl: false });
    });
  }
  if (!isBuilt) return;
  sites.set(fastify, { page, ...(api ? { api } : {}) });
  await fastify.register(fastifyStatic, {
    root: directory,
    serve: false,
    preCompressed: true,
    dotfiles: 'ignore',
    cacheControl: false,
    setHeaders: (reply) => {
      reply.header('x-content-type-options', 'nosniff');
      reply.header('cross-origin-resource-policy', 'same-origin');
    },
  });
  fastify.get('/assets/*', (request, reply) => {
    reply.header('cache-control', 'public, max-age=31536000, immutable');
    return reply.sendFile(`assets/${(request.params as { '*': string })['*']}`);
  });
  // Browsers request favicon.ico for documents without a link, such as JSON; they use the content type, not the name.
  for (const [url, file] of [
    ['/favicon.svg', 'favicon.svg'],
    ['/favicon.ico', 'favicon.svg'],
    ['/theme.js', 'theme.js'],
  ] as const) {
    fastify.get(url, (_request, reply) => reply.header('cache-control', 'public, max-age=3600').sendFile(file));
  }
}
