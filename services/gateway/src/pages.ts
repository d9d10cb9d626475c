// Pages for people: the chat, and the machines that answer there.
import path from 'node:path';
import { serveSite } from '@strata/http';
import type { FastifyInstance } from 'fastify';

const SITE = path.join(import.meta.dirname, '../../../web/dist');

/** Where the chat answers; web/src/chat/app.tsx knows the same paths. `/network` is the report in JSON. */
const CHAT_ROUTES = ['/', '/machines'];

/** Serves the chat. It loads nothing from another host, and asks this service alone. */
export async function servePages(fastify: FastifyInstance): Promise<void> {
  fastify.addHook('onSend', async (_request, reply) => {
    if (String(reply.getHeader('content-type') ?? '').startsWith('text/html'))
      reply.header('x-content-type-options', 'nosniff');
  });
  await serveSite(fastify, { directory: SITE, page: 'chat.html', routes: CHAT_ROUTES });
}
