import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ERRORS, type ErrorCode, Refusal } from './errors.ts';
import { parseInput } from './input.ts';
import { problemOf } from './problem.ts';

const contract = {
  params: z.object({ domain: z.string().min(3) }),
  query: z.object({ limit: z.coerce.number().int().min(1).default(50), q: z.string().optional() }),
};

function parse(params: unknown, query: unknown, of: Parameters<typeof parseInput>[0] = contract) {
  return parseInput(of, { params, query } as FastifyRequest);
}

function fieldsRefused(params: unknown, query: unknown): string[] {
  try {
    parse(params, query);
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === 'invalid_parameter');
    return error.errors.map((each) => each.field);
  }
  return [];
}

describe('the input of a request', () => {
  it('holds path and query, parsed, with defaults, and nothing else', () => {
    const domain = 'a.example';
    assert.deepEqual(parse({ domain }, { limit: '7', q: 'x', other: '1' }), { domain, limit: 7, q: 'x' });
    assert.deepEqual(parse({ domain }, {}), { domain, limit: 50 });
    assert.deepEqual(parse({ domain }, { q: 'x' }, {}), {});
  });

  it('names every field that cannot be used, once', () => {
    assert.deepEqual(fieldsRefused({ domain: 'a' }, { limit: '0', q: ['x', 'y'] }), ['domain', 'q', 'limit']);
    assert.deepEqual(fieldsRefused({ domain: 'abc' }, { limit: ['1', '2'] }), ['limit']);
  });

  it('reads only what the request itself holds, never what its objects inherit', () => {
    const query = z.object({ constructor: z.string().optional(), toString: z.string().optional() });
    assert.deepEqual(parse({}, {}, { query }), {});
    assert.deepEqual(parse({ domain: 'abc' }, Object.create({ limit: '9' })), { domain: 'abc', limit: 50 });
    assert.deepEqual(parse({ domain: 'abc' }, JSON.parse('{"__proto__":"x"}')), { domain: 'abc', limit: 50 });
  });

  it('gives the rest of a path its name', () => {
    const params = z.object({ rest: z.string() });
    assert.deepEqual(parse({ '*': 'a/b' }, {}, { params }), { rest: 'a/b' });
  });
});

describe('the mapping of errors to problems', () => {
  it('gives each code of the table its status, its title and a type that any server resolves on itself', () => {
    const titles = new Set<string>();
    for (const [code, { status, title }] of Object.entries(ERRORS) as [ErrorCode, (typeof ERRORS)[ErrorCode]][]) {
      const refusal = new Refusal(code, 'Because.', { headers: { 'retry-after': '3' } });
      const { problem, headers } = problemOf(refusal, 'request-1');
      const type = `/problems/${code}`;
      assert.deepEqual(problem, { type, title, status, detail: 'Because.', code, request_id: 'request-1' });
      assert.equal(new URL(type, 'https://api.example/stack/v1/x').href, `https://api.example/problems/${code}`);
      assert.deepEqual(headers, { 'retry-after': '3' });
      assert.ok(status >= 400 && status < 600);
      titles.add(title);
    }
    assert.equal(titles.size, Object.keys(ERRORS).length, 'each has a title of its own');
  });

  it('lists the fields of an input error', () => {
    const errors = [{ field: 'limit', message: 'too big' }];
    assert.deepEqual(problemOf(new Refusal('invalid_parameter', 'No.', { errors }), 'r').problem.errors, errors);
  });

  // What Fastify says of a body is proved in server.test.ts.
  it('is invalid_parameter for a URL that Fastify cannot read, without its message', () => {
    const { problem } = problemOf(Object.assign(new Error('FST: internals'), { code: 'FST_ERR_BAD_URL' }), 'r');
    assert.equal(problem.code, 'invalid_parameter');
    assert.ok(!problem.detail.includes('internals'));
  });

  it('says unavailable, and when to try again, for trouble of the machine, and not what it is', () => {
    const full = new Error('/secret/place: the disk is full');
    const { problem, headers } = problemOf(full, 'r', (error) => error === full);
    assert.deepEqual([problem.status, problem.code, headers], [503, 'unavailable', { 'retry-after': '30' }]);
    assert.ok(!problem.detail.includes('secret'));
    assert.equal(problemOf(new Error('a bug'), 'r', (error) => error === full).problem.status, 500);
  });

  it('tells nothing of anything else that is thrown', () => {
    const secret = 'password=1234';
    const errors = [{}, { code: 'toString', statusCode: 200 }, { code: '__proto__' }].map((more) =>
      Object.assign(new Error(secret), more),
    );
    for (const error of [...errors, secret, { message: secret }, undefined, null, 1234]) {
      const { problem } = problemOf(error, 'r');
      assert.deepEqual([problem.status, problem.code], [500, 'internal_error']);
      assert.ok(!JSON.stringify(problem).includes('1234'));
    }
  });
});
