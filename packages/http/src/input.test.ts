import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Refusal } from './errors.ts';
import { parseInput } from './input.ts';

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
    const inherited = Object.create({ limit: '9' });
    assert.deepEqual(parse({ domain: 'abc' }, inherited), { domain: 'abc', limit: 50 });
    const poisoned = JSON.parse('{"__proto__":"x"}');
    assert.deepEqual(parse({ domain: 'abc' }, poisoned), { domain: 'abc', limit: 50 });
  });

  it('gives the rest of a path its name', () => {
    const params = z.object({ rest: z.string() });
    assert.deepEqual(parse({ '*': 'a/b' }, {}, { params }), { rest: 'a/b' });
  });
});
