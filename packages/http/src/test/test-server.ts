// Servers over small route tables, with receipts and keys in memory.
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { connect, type TcpNetConnectOpts } from 'node:net';
import * as receipts from '@strata/receipts';
import pino from 'pino';
import { z } from 'zod';
import { testKey } from '../../../../tests/support/ledger-service.ts';
import { until as untilSo } from '../../../../tests/support/until.ts';
import * as http from '../index.ts';

const { AnswerCache, createSignedServer, Metrics, route } = http;

export interface TestApp {
  calls: number;
  /** The handler of `slow` emits `asked` and then waits for `go`. */
  readonly slow: EventEmitter;
}

const thing = z.object({ id: z.string(), limit: z.int(), calls: z.int() });
const made = { kind: 'signed', status: 201, schema: z.object({ made: z.boolean() }) } as const;
const common = { tag: 'Things', summary: 'A thing' } as const;

/** The fields of routes, and an output, that tests do not care about. */
export const plain = { ...common, method: 'GET', errors: [], access: 'open' } as const;
export const nothing = { kind: 'json', schema: z.object({}), description: 'Nothing.' } as const;
const bytes = { kind: 'bytes', contentType: 'text/plain', description: 'Bytes.' } as const;
export const plainBytes = { ...plain, output: bytes } as const;

export const routes: readonly http.Route<TestApp>[] = [
  route(
    {
      ...{ ...common, method: 'GET', path: '/things/{id}', errors: ['unknown_domain'], access: 'key' },
      params: z.object({ id: z.string().max(40) }),
      query: z.object({ limit: z.coerce.number().int().min(1).max(1_000).default(50) }),
      output: { kind: 'signed', schema: thing },
      cache: (_app: TestApp, { id, limit }) => ({ key: `${id} ${limit}`, tags: [`thing:${id}`] }),
    },
    async (app, { id, limit }, context) => {
      app.calls += 1;
      if (id === 'slow') {
        app.slow.emit('asked');
        await once(app.slow, 'go');
      }
      if (id === 'bug') throw new Error('the secret of the bug');
      return id === 'none' ? context.refuse('unknown_domain', 'No such thing.') : { id, limit, calls: app.calls };
    },
  ),
  route({ ...common, method: 'POST', path: '/things', errors: [], access: 'open', output: made }, (_app: TestApp) => ({
    made: true,
  })),
  route(
    {
      ...{ ...common, method: 'GET', path: '/files/{rest*}', errors: [], access: 'open' },
      params: z.object({ rest: z.string().max(100) }),
      output: { kind: 'bytes', contentType: 'text/plain', description: 'The path.' },
    },
    (_app: TestApp, { rest }) => ({ bytes: rest, maxAgeSeconds: Number.POSITIVE_INFINITY }),
  ),
];

export const LIMITED_KEY = 'ssk_limited';
export const UNLIMITED_KEY = 'ssk_unlimited';
const noRevocations = { revision: () => 0, stillValid: async () => new Set<string>(), used: async () => 0 };

/** Allows `limit` requests of `keyId` per day. */
function countUses() {
  const counts = new Map<string, number>();
  const used = async (keyId: string, day: string) => counts.get(`${keyId} ${day}`) ?? 0;
  const take = async (keyId: string, day: string, limit: number) => {
    const count = (await used(keyId, day)) + 1;
    if (count > limit) return { isAllowed: false, used: limit };
    counts.set(`${keyId} ${day}`, count);
    return { isAllowed: true, used: count };
  };
  return { take, used };
}

export function createTestServer(
  options: { readonly notary?: http.Notary; readonly log?: pino.DestinationStream } = {},
) {
  const app: TestApp = { calls: 0, slow: new EventEmitter() };
  const { notary, keySet } = createNotary();
  const answers = new AnswerCache();
  const find = async (presented: string) => {
    if (presented === LIMITED_KEY) return { id: 'limited', tier: 'free', dailyLimit: 3 };
    return presented === UNLIMITED_KEY ? { id: 'unlimited', tier: 'unlimited', dailyLimit: null } : undefined;
  };
  const server = createSignedServer({
    ...{ app, routes, answers, notary: options.notary ?? notary, keys: { ...noRevocations, ...countUses(), find } },
    logger: pino({ level: options.log ? 'info' : 'silent' }, options.log ?? pino.destination(2)),
    metrics: new Metrics(),
    now: () => new Date('2026-05-01T18:00:00Z'),
  });
  /** Whether a body's content, key and signature are valid; there is no ledger here. */
  const verify = async (body: unknown) => {
    const { steps } = await receipts.verifyAnswer(body, { keySet, ledgerReceipt: undefined });
    return steps.some(({ step, ok }) => step === 'signature' && ok);
  };
  return { ...server, app, answers, verify };
}

/** A server without signatures and keys. */
export const serverOf = (routes: readonly http.Route<object>[], options: Partial<http.SignedServerDeps<object>> = {}) =>
  createSignedServer({
    ...{ app: {}, routes, answers: new AnswerCache(), logger: pino({ level: 'silent' }), metrics: new Metrics() },
    notary: {
      sign: async (body) => JSON.stringify(body),
      signOnce: async (body) => JSON.stringify(body),
      signBytes: async () => ({}),
    },
    keys: { ...noRevocations, find: async () => undefined, take: async () => ({ isAllowed: false, used: 0 }) },
    ...options,
  });

/** A connection on which `sent` was written, and the text received so far. */
export async function rawClient(options: TcpNetConnectOpts, sent: string) {
  let text = '';
  const socket = connect({ host: '127.0.0.1', ...options }).on('error', () => {});
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(socket, 'connect');
  socket.write(sent);
  return { socket, text: () => text };
}

export const connectionsOf = ({ fastify }: ReturnType<typeof serverOf>) =>
  new Promise<number>((resolve) => fastify.server.getConnections((_, count) => resolve(count ?? -1)));

export const until = (isSo: () => boolean | Promise<boolean>, what: string) => untilSo(isSo, { what });

function createNotary() {
  const signer = testKey(1);
  const keys = [receipts.publicKeyEntry(signer.publicKey, { status: 'current', not_before: '2026-01-01T00:00:00Z' })];
  const ledger = receipts.ledgerEntry(keys, { origin: 'ledger.test', url: '/ledger/' });
  const issuing = () => ({ signer, now: new Date(), random: randomBytes(16), publicKeyUrl: '/keys.json' });
  const once = new Map<string, string>();
  const issue: http.Notary['sign'] = async (body) => JSON.stringify(receipts.issueReceipt(body, issuing()).body);
  const notary: http.Notary = {
    sign: issue,
    async signOnce(body) {
      const name = JSON.stringify(body);
      const signed = once.get(name) ?? (await issue(body));
      once.set(name, signed);
      return signed;
    },
    signBytes: async (content, type) => receipts.issueDetachedReceipt(content, type, issuing()).provenance,
  };
  return { notary, keySet: receipts.keySetDocument(keys, ledger) };
}
