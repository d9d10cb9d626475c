// The real service with synthetic domains in its database, and on a second port a bare Fastify route with the same bytes.
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { temporaryDirectory } from '../tests/support/temporary-directory.ts';
import { AT_ONCE, companyOf, scanOf } from './load/seed.ts';
import { childArgument, reportReady } from './measure.ts';
import { startQuiet } from './quiet-service.ts';

const { domains } = childArgument<{ domains: number }>();
const stack = new AsyncDisposableStack();
const directory = stack.use(await temporaryDirectory());
const { app, key, port } = stack.use(await startQuiet(directory.path));
for (let from = 0; from < domains; from += AT_ONCE) {
  const scans = Array.from({ length: Math.min(AT_ONCE, domains - from) }, (_, i) =>
    scanOf(from + i, { at: new Date(), rulebook: app.rulebook }),
  );
  await app.store.recordScans(scans, { confirmAfterMs: 1 });
}

const url = `http://127.0.0.1:${port}/stack/v1/domains/`;
const answer = Buffer.from(await (await fetch(url + companyOf(0), { headers: { 'x-stack-key': key } })).arrayBuffer());
const bare = stack.adopt(Fastify(), (server) => server.close());
bare.get('/profile', (_request, reply) => reply.header('content-type', 'application/json; charset=utf-8').send(answer));
await bare.listen({ host: '127.0.0.1', port: 0 });
const { port: barePort } = bare.server.address() as AddressInfo;
reportReady({ url, key, bareUrl: `http://127.0.0.1:${barePort}/profile`, bytes: answer.length }, () =>
  stack.disposeAsync(),
);
