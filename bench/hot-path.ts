// What the server adds to Fastify: a signed answer from memory, for an unlimited key, against a bare route with the same bytes.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { AnswerCache, createHttpServer, createLogger, Metrics, type Route, route } from '@strata/http';
import { decodeBase64Url, issueReceipt, keyIdOf } from '@strata/receipts';
import autocannon from 'autocannon';
import Fastify from 'fastify';
import { z } from 'zod';
import { median, startChild, tellReady } from './measure.ts';

const ROUNDS = 5;
const SECONDS = 4;
const CONNECTIONS = 32;
const KEY = 'ssk_bench';

/** Requests a second of each, and the median of the rounds' ratios. */
export interface HotPath {
  readonly bare: number;
  readonly hot: number;
  readonly ratio: number;
  /** Bytes of the body that both send. */
  readonly bytes: number;
}

/** Both routes live in one process of their own; rounds alternate, so that a slow moment of the machine meets both. */
export async function benchHotPath(): Promise<HotPath> {
  await using server = await startChild<{ bareUrl: string; hotUrl: string; bytes: number }>('./hot-path.ts');
  const { bareUrl, hotUrl, bytes } = server.ready;
  await rate(bareUrl, 1);
  await rate(hotUrl, 1);
  const rounds = [];
  for (let i = 0; i < ROUNDS; i += 1) {
    const bare = await rate(bareUrl, SECONDS);
    const hot = await rate(hotUrl, SECONDS);
    rounds.push({ bare, hot, ratio: hot / bare });
  }
  return {
    bare: median(rounds.map((round) => round.bare)),
    hot: median(rounds.map((round) => round.hot)),
    ratio: median(rounds.map((round) => round.ratio)),
    bytes,
  };
}

/** Requests a second; throws when one was not answered with 200. Both get the key's header, though only one reads it. */
async function rate(url: string, seconds: number): Promise<number> {
  const options = { url, duration: seconds, connections: CONNECTIONS, headers: { 'x-stack-key': KEY } };
  const result = await autocannon(options);
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} answers were not 2xx, ${result.errors} requests failed`);
  return result.requests.total / result.duration;
}

async function serve(): Promise<void> {
  const server = createHttpServer({
    app: undefined,
    routes: [profile()],
    notary: createNotary(),
    keys: {
      find: async (presented) => (presented === KEY ? { id: 'bench', tier: 'unlimited', dailyLimit: null } : undefined),
      take: async () => ({ isAllowed: true, used: 0 }),
    },
    answers: new AnswerCache(),
    logger: createLogger({ level: 'info' }),
    metrics: new Metrics(),
  });
  const hotUrl = `http://127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 })}/domains/example.com`;
  const response = await fetch(hotUrl, { headers: { 'x-stack-key': KEY } });
  const bytes = Buffer.from(await response.arrayBuffer());

  const bare = Fastify();
  bare.get('/domains/:domain', (_request, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(bytes),
  );
  await bare.listen({ host: '127.0.0.1', port: 0 });
  const { port } = bare.server.address() as AddressInfo;
  tellReady({ bareUrl: `http://127.0.0.1:${port}/domains/example.com`, hotUrl, bytes: bytes.length }, async () => {
    await bare.close();
    await server[Symbol.asyncDispose]();
  });
}

function profile(): Route<undefined> {
  const service = {
    category: 'email',
    provider: 'Example Mail',
    confidence: 'high',
    first_seen: '2026-01-01T00:00:00Z',
  };
  return route(
    {
      method: 'GET',
      path: '/domains/{domain}',
      tag: 'Domains',
      summary: 'A profile of about 2 KB',
      params: z.object({ domain: z.string() }),
      output: {
        kind: 'signed',
        schema: z.object({ domain: z.string(), services: z.array(z.record(z.string(), z.string())) }),
      },
      errors: [],
      access: 'key',
      cache: (_app, { domain }) => ({ key: domain, tags: [] }),
    },
    (_app: undefined, { domain }) => ({ domain, services: Array.from({ length: 12 }, () => service) }),
  );
}

function createNotary() {
  const { privateKey } = generateKeyPairSync('ed25519');
  const publicKey = decodeBase64Url(privateKey.export({ format: 'jwk' }).x ?? '') ?? new Uint8Array();
  const signer = { keyId: keyIdOf(publicKey), sign: (bytes: Uint8Array) => sign(null, bytes, privateKey) };
  const receipt = () => ({ signer, now: new Date(), random: randomBytes(16), publicKeyUrl: '/keys.json' });
  return { sign: async (body: Readonly<Record<string, unknown>>) => issueReceipt(body, receipt()).body };
}

// Started by the bench as a process of its own, this file is the server; started by hand, it prints what it measures.
if (import.meta.main) {
  if (process.send) await serve();
  else process.stdout.write(`${JSON.stringify(await benchHotPath())}\n`);
}
