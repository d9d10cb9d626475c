// One path, several methods: none gets what belongs to another.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { AnswerCache, createHttpServer, createLogger, Metrics, route } from './index.ts';

const schema = z.object({ secret: z.string() });
const contract = { path: '/keys', tag: 'Keys', summary: 'Keys', errors: [], access: 'open' } as const;
const getKeys = route(
  { ...contract, method: 'GET', output: { kind: 'signed', schema }, cache: () => ({ key: 'keys', tags: [] }) },
  (_app: object) => ({ secret: 'none' }),
);
const postKey = route(
  { ...contract, method: 'POST', output: { kind: 'signed', schema, status: 201 } },
  (_app: object) => ({ secret: 'shown once' }),
);

const serverOf = (routes: readonly (typeof getKeys)[]) =>
  createHttpServer({
    app: {},
    routes,
    notary: { sign: async (body) => body, signBytes: async () => ({}) },
    keys: { find: async () => undefined, take: async () => ({ isAllowed: false, used: 0 }) },
    answers: new AnswerCache(),
    logger: createLogger({ level: 'silent' }),
    metrics: new Metrics(),
  });

describe('one path with several methods', () => {
  it('never answers POST with what is ready for GET, and lets no cache keep what POST made', async () => {
    await using server = serverOf([getKeys, postKey]);
    for (let i = 0; i < 2; i += 1) assert.equal((await server.fastify.inject('/keys')).json().secret, 'none');
    const made = await server.fastify.inject({ method: 'POST', url: '/keys', headers: { 'if-none-match': '*' } });
    assert.equal(made.statusCode, 201);
    assert.equal(made.json().secret, 'shown once');
    assert.equal(made.headers['cache-control'], 'no-store');
    assert.equal(made.headers.etag, undefined);
  });

  it('says 405 whatever body came with the wrong method', async () => {
    await using server = serverOf([getKeys]);
    for (const headers of [{}, { 'content-type': 'application/json' }, { 'content-type': 'text/plain' }]) {
      const reply = await server.fastify.inject({ method: 'PUT', url: '/keys', payload: '{', headers });
      assert.equal(reply.statusCode, 405);
      assert.equal(reply.headers.allow, 'GET, HEAD, OPTIONS');
    }
  });

  it('takes JSON or nothing as a body', async () => {
    await using server = serverOf([postKey]);
    const post = async (type: string) =>
      (await server.fastify.inject({ method: 'POST', url: '/keys', payload: '{}', headers: { 'content-type': type } }))
        .statusCode;
    assert.deepEqual([await post('application/json'), await post('text/plain')], [201, 415]);
  });

  it('does not start when answers to anything but GET are to be kept', () => {
    const kept = { ...postKey, contract: { ...postKey.contract, cache: () => ({ key: 'x', tags: [] }) } };
    assert.throws(() => serverOf([kept]), /only GET answers are kept/);
  });
});
