import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERRORS, type ErrorCode, Refusal } from './errors.ts';
import { problemOf } from './problem.ts';

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

  for (const [code, expected] of [
    ['FST_ERR_BAD_URL', 'invalid_parameter'],
    ['FST_ERR_CTP_BODY_TOO_LARGE', 'payload_too_large'],
    ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'unsupported_media_type'],
    ['FST_ERR_CTP_EMPTY_JSON_BODY', 'invalid_parameter'],
  ] as const)
    it(`is ${expected} for Fastify's ${code}`, () => {
      const { problem } = problemOf(Object.assign(new Error('FST: internals'), { code, statusCode: 418 }), 'r');
      assert.equal(problem.code, expected);
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
