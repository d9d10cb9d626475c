// The web pages: the chat, and the machines of the network.
import path from 'node:path';
import { serveSite } from '@strata/http';
import type { FastifyInstance } from 'fastify';
import type { GatewayConfig } from '../config.ts';

const SITE = path.join(import.meta.dirname, '../../../../web/dist');

/** The routes of the chat, the same as in web/src/chat/app.tsx. `/network` is the report in JSON. */
const CHAT_ROUTES = ['/', '/machines', '/admin'];

/** Serves the chat and the settings that it needs before the user has a key. It loads nothing from other hosts. */
export async function servePages(
  fastify: FastifyInstance,
  { explorerUrl, freeKeysPerDay }: Pick<GatewayConfig, 'explorerUrl' | 'freeKeysPerDay'>,
): Promise<void> {
  fastify.get('/site.json', (_request, reply) =>
    reply
      .header('cache-control', 'no-cache')
      .send({ explorer_url: explorerUrl ?? null, free_keys_per_day: freeKeysPerDay }),
  );
  await serveSite(fastify, { directory: SITE, page: 'chat.html', routes: CHAT_ROUTES, api: ['/'] });
}
