// The real service with synthetic domains in its database, and on a second port a bare Fastify route with the same bytes.
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { detect, evidenceFromRecord } from '@strata/detect';
import { createLogger } from '@strata/http';
import { readConfig, startStack } from '@strata/stack';
import Fastify from 'fastify';
import { reportReady } from './measure.ts';

const { domains } = JSON.parse(process.argv[2] ?? '{}') as { domains: number };
const directory = await mkdtemp(path.join(tmpdir(), 'strata-bench-'));
const config = readConfig({
  STRATA_DATA: directory,
  STRATA_STACK_PORT: '0',
  STRATA_METRICS_PORT: '0',
  STRATA_SCAN: 'off',
  STRATA_ON_DEMAND: 'off',
  STRATA_RESOLVERS: '127.0.0.1:9',
});
const running = await startStack(config, createLogger({ level: 'error' }));
const { store, rulebook } = running.app;
const { key } = await store.keys.create({ tier: 'unlimited' });
for (let i = 0; i < domains; i += 1) {
  const domain = nameOf(i);
  const evidence = evidenceFromRecord({
    domain,
    ns: ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'],
    mx: [{ preference: 1, exchange: 'aspmx.l.google.com' }],
    txt: ['v=spf1 include:_spf.google.com include:sendgrid.net ~all', 'google-site-verification=abc', `MS=ms${i}`],
    dmarc: 'v=DMARC1; p=reject; rua=mailto:x@vali.email',
    headers: { server: 'cloudflare', 'cf-ray': `${i}-FRA` },
    tls_issuer: "Let's Encrypt",
  });
  const at = new Date();
  await store.recordScans(
    [
      {
        profile: detect(evidence, rulebook),
        evidence: { ...evidence, observedAt: at.toISOString() },
        startedAt: at,
        finishedAt: at,
      },
    ],
    { confirmAfterMs: config.confirmAfterMs },
  );
}

const url = `http://127.0.0.1:${running.port}/stack/v1/domains/`;
const answer = Buffer.from(await (await fetch(url + nameOf(0), { headers: { 'x-stack-key': key } })).arrayBuffer());
const bare = Fastify();
bare.get('/profile', (_request, reply) => reply.header('content-type', 'application/json; charset=utf-8').send(answer));
await bare.listen({ host: '127.0.0.1', port: 0 });
const { port } = bare.server.address() as AddressInfo;
reportReady({ url, key, bareUrl: `http://127.0.0.1:${port}/profile`, bytes: answer.length }, async () => {
  await bare.close();
  await running[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

function nameOf(i: number): string {
  return `company-${i}.com`;
}
