// The least that answers so: a Fastify route that sends, for each kind of path, bytes that a node sent.
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { childArgument, reportReady, reportUse } from '../measure.ts';
import type { Kind } from './mixed-questions.ts';

const bodies = childArgument<Readonly<Record<Kind, string>>>();
const bytes = new Map(Object.entries(bodies).map(([kind, body]) => [kind, Buffer.from(body)]));
const server = Fastify();
const type = 'application/json; charset=utf-8';
server.get<{ Params: { readonly kind: string } }>('/:kind/*', (request, reply) => {
  const { kind } = request.params;
  return reply
    .code(kind === 'missing' ? 404 : 200)
    .header('content-type', type)
    .send(bytes.get(kind));
});
await server.listen({ host: '127.0.0.1', port: 0 });
reportUse();
reportReady({ port: (server.server.address() as AddressInfo).port }, () => server.close());
