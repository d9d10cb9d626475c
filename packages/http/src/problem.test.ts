import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERRORS, type ErrorCode, Refusal } from './errors.ts';
import { problemOf } from './problem.ts';

describe('the mapping of errors to problems', () => {
  it('gives each code of the table its status, its title and a type that any server resolves on itself', () => {
    const codes = Object.keys(ERRORS) as ErrorCode[];
    for (const code of codes) {
      const { problem, headers } = problemOf(
        new Refusal(code, 'Because.', { headers: { 'retry-after': '3' } }),
        'request-1',
      );
      assert.deepEqual(problem, {
        type: `/problems/${code}`,
        title: ERRORS[code].title,
        status: ERRORS[code].status,
        detail: 'Because.',
        code,
        request_id: 'request-1',
      });
      assert.equal(
        new URL(problem.type, 'https://api.example/stack/v1/x').href,
        `https://api.example/problems/${code}`,
      );
      assert.deepEqual(headers, { 'retry-after': '3' });
    }
  });

  it('has a client or server status and a title of its own for each code', () => {
    for (const { status } of Object.values(ERRORS)) assert.ok(status >= 400 && status < 600);
    const titles = Object.values(ERRORS).map((each) => each.title);
    assert.equal(new Set(titles).size, titles.length);
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
  ] as const) {
    it(`says ${expected} for Fastify's ${code}`, () => {
      const error = Object.assign(new Error('FST: internals'), { code, statusCode: 418 });
      const { problem } = problemOf(error, 'r');
      assert.equal(problem.code, expected);
      assert.ok(!problem.detail.includes('internals'));
    });
  }

  it('says unavailable, and when to try again, for trouble of the machine, and not what it is', () => {
    const full = new Error('/secret/place: the disk is full');
    const { problem, headers } = problemOf(full, 'r', (error) => error === full);
    assert.deepEqual([problem.status, problem.code, headers], [503, 'unavailable', { 'retry-after': '30' }]);
    assert.ok(!problem.detail.includes('secret'));
    assert.equal(problemOf(new Error('a bug'), 'r', (error) => error === full).problem.status, 500);
  });

  it('tells nothing of anything else that is thrown', () => {
    const thrown: unknown[] = [
      new Error('password=1234'),
      Object.assign(new Error('password=1234'), { code: 'toString', statusCode: 200 }),
      Object.assign(new Error('password=1234'), { code: '__proto__' }),
      'password=1234',
      { message: 'password=1234' },
      undefined,
      null,
      1234,
    ];
    for (const error of thrown) {
      const { problem } = problemOf(error, 'r');
      assert.deepEqual([problem.status, problem.code], [500, 'internal_error']);
      assert.ok(!JSON.stringify(problem).includes('1234'));
    }
  });
});
