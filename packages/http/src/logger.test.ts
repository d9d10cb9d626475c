import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger } from './logger.ts';
import { SeldomTold } from './seldom-told.ts';

type Logger = ReturnType<typeof createLogger>;

function logged(write: (logger: Logger) => void, level = 'info'): string {
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
  const hidden = { 'x-stack-key': 'other-0123', authorization: 'Bearer 0123', cookie: 'a=0123' };
  const headers = { ...hidden, 'set-cookie': 'a=0123', host: 'seen' };
  const values = [headers, { headers }, { req: { headers } }, { request: { headers } }, { key: 'ssk_0123' }];
  for (const value of values) {
    const text = logged((logger) => logger.info(value, 'request'));
    assert.ok(text.includes('[secret]') && !text.includes('0123'), text);
  }
  const text = logged((logger) => logger.info({ headers }, 'x'));
  assert.match(text, /"host":"seen"/);
});

it('shows no API key in messages, errors, URLs or deep values, and stays JSON', () => {
  const secret = 'ssk_AbC-12_x9';
  for (const write of [
    (logger) => logger.info(`key ${secret} was seen`),
    (logger) => logger.error({ err: new Error('wrap', { cause: new Error(`for "${secret}"`) }) }, 'failed'),
    (logger) => logger.warn({ path: `/x?key=${secret}` }, 'path'),
    (logger) => logger.info({ a: { b: { c: [{ d: secret }] } } }, 'deep'),
    (logger) => logger.child({ of: secret }).info('child'),
  ] as ((logger: Logger) => void)[]) {
    const text = logged(write);
    assert.ok(!text.includes('AbC-12_x9') && text.includes('[secret]'), text);
    JSON.parse(text);
  }
});

it('logs as text what a terminal or an editor would obey, on one line, and loses nothing of it', () => {
  const marks = [0x61c, 0x200e, 0x2028, 0x2029, 0x202e, 0x2066, 0x2069];
  const codes = [...Array.from({ length: 0xa0 }, (_, code) => code), ...marks];
  const controls = String.fromCharCode(...codes.filter((code) => code < 0x20 || code > 0x7e));
  const evil = `a${controls}\x1b[2J\x9b31m\r\n{"level":60,"msg":"forged"}`;
  const cases: readonly [write: (logger: Logger) => void, read: (line: Record<string, unknown>) => unknown][] = [
    [(logger) => logger.info(evil), ({ msg }) => msg],
    [(logger) => logger.info({ path: evil }, 'path'), ({ path }) => path],
    [(logger) => logger.info({ [evil]: 1 }, 'name'), (line) => Object.keys(line).find((name) => name.startsWith('a'))],
    [(logger) => logger.info({ deep: [evil] }, 'deep'), ({ deep }) => (deep as string[])[0]],
    [(logger) => logger.error({ err: new Error(evil) }, 'failed'), ({ err }) => (err as Error).message],
    [(logger) => logger.child({ of: evil }).info('child'), ({ of }) => of],
  ];
  for (const [write, read] of cases) {
    const text = logged(write);
    assert.match(text, /^[^\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+\n$/u);
    assert.equal(read(JSON.parse(text)), evil);
  }
});

it('tells trouble of a kind every ten seconds, with how often it came between, and each kind by itself', () => {
  let now = 5;
  const seldom = new SeldomTold(() => now);
  const take = (message: unknown) => seldom.take(typeof message === 'string' ? new Error(message) : message);
  assert.deepEqual([take('gone'), take('gone'), take('full'), take(undefined)], [0, undefined, 0, 0]);
  now += 9_999;
  assert.equal(take('gone'), undefined);
  now += 1;
  assert.deepEqual([take('gone'), take('full'), take('gone')], [2, 0, undefined]);
});
