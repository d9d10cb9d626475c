// Pages for people: the chat, and the machines that answer there.
import path from 'node:path';
import { serveSite } from '@strata/http';
import type { FastifyInstance } from 'fastify';
import type { GatewayConfig } from '../config.ts';

const SITE = path.join(import.meta.dirname, '../../../../web/dist');

/** Where the chat answers; web/src/chat/app.tsx knows the same paths. `/network` is the report in JSON. */
const CHAT_ROUTES = ['/', '/machines'];

/** Serves the chat, and what it has to know of this installation before anybody has a key. It loads nothing from another host, and asks this service alone. */
export async function servePages(
  fastify: FastifyInstance,
  { explorerUrl, freeKeysPerDay }: Pick<GatewayConfig, 'explorerUrl' | 'freeKeysPerDay'>,
): Promise<void> {
  fastify.get('/site.json', (_request, reply) =>
    reply
      .header('cache-control', 'no-cache')
      .send({ explorer_url: explorerUrl ?? null, free_keys_per_day: freeKeysPerDay }),
  );
  await serveSite(fastify, { directory: SITE, page: 'chat.html', routes: CHAT_ROUTES });
}
