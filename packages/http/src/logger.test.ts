import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger } from './logger.ts';

function logged(write: (logger: ReturnType<typeof createLogger>) => void, level = 'info'): string {
  const lines: string[] = [];
  write(createLogger({ level }, { write: (line: string) => void lines.push(line) }));
  return lines.join('');
}

it('logs one JSON object a line, with an ISO time, and nothing below its level', () => {
  const text = logged((logger) => {
    logger.debug('unseen');
    logger.info({ port: 1 }, 'ready');
  });
  const line = JSON.parse(text);
  assert.deepEqual([line.port, line.msg], [1, 'ready']);
  assert.match(line.time, /^\d{4}-\d\d-\d\dT.*Z$/);
});

it('shows no header that is a secret', () => {
  const headers = {
    'x-stack-key': 'other-0123',
    authorization: 'Bearer 0123',
    cookie: 'a=0123',
    'set-cookie': 'a=0123',
    host: 'seen',
  };
  const values = [headers, { headers }, { req: { headers } }, { request: { headers } }, { key: 'ssk_0123' }];
  for (const value of values) {
    const text = logged((logger) => logger.info(value, 'request'));
    assert.ok(text.includes('[secret]') && !text.includes('0123'), text);
  }
  assert.match(
    logged((logger) => logger.info({ headers }, 'x')),
    /"host":"seen"/,
  );
});

it('shows no API key in messages, errors, URLs or deep values, and stays JSON', () => {
  const secret = 'ssk_AbC-12_x9';
  for (const write of [
    (logger) => logger.info(`key ${secret} was seen`),
    (logger) => logger.error({ err: new Error('wrap', { cause: new Error(`for "${secret}"`) }) }, 'failed'),
    (logger) => logger.warn({ path: `/x?key=${secret}` }, 'path'),
    (logger) => logger.info({ a: { b: { c: [{ d: secret }] } } }, 'deep'),
    (logger) => logger.child({ of: secret }).info('child'),
  ] as ((logger: ReturnType<typeof createLogger>) => void)[]) {
    const text = logged(write);
    assert.ok(!text.includes('AbC-12_x9') && text.includes('[secret]'), text);
    JSON.parse(text);
  }
});
