import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLogger, FailureLog, followKeys, Metrics } from '@strata/http';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { EventBus } from '../events.ts';
import { addLedgerRefusal } from './stack-metrics.ts';
import { UpdateLoop } from './update-loop.ts';

/** A logger whose lines, without their times, can be inspected. */
function logging() {
  const lines: { level: number; msg: string; err?: unknown; failures?: number; seconds?: number; reason?: string }[] =
    [];
  const logger = createLogger({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { lines, logger };
}

it('a metric says whether the signing keys are retired', async () => {
  const metrics = new Metrics();
  const log = { stats: () => ({ size: 0, commits: 0 }) };
  let at: string | undefined;
  addLedgerRefusal(metrics, { log, problem: () => undefined, retiredAt: () => at });
  const value = async () => /^strata_signing_keys_retired (\d)$/m.exec(await metrics.registry.metrics())?.[1];
  assert.equal(await value(), '0');
  at = '2026-01-01T00:00:00Z';
  assert.equal(await value(), '1');
});
it('each rotation of the signing keys is logged once, by another node and here', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { lines, logger } = logging();
  const stop = new AbortController();
  const [at, later] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];
  const states = [['a', at], ['a', at], ['b'], ['b', later], ['b', later]];
  let [keyId, retiredAt]: (string | undefined)[] = ['a'];
  const reload = async () => {
    [keyId, retiredAt] = states.shift() ?? [keyId, retiredAt];
    if (states.length === 0) stop.abort();
  };
  const ledger = { reload, retiredAt: () => retiredAt, problem: () => undefined, witnesses: () => undefined };
  const signer = { get: () => ({ keyId }) };
  const following = followKeys(Object.defineProperties(ledger, { signer }) as never, logger, stop.signal);
  for (; !stop.signal.aborted; mock.timers.tick(1_000)) await nextTurn();
  await following;
  const logged = lines.map(({ msg }) => /rotated on another node|new signing keys/.exec(msg)?.[0]);
  assert.deepEqual(logged, ['rotated on another node', 'new signing keys', 'rotated on another node']);
});
it('a repeated failure is logged in full at first, then once a minute, and when it is over', () => {
  const { lines, logger } = logging();
  const clock = { ms: 5 };
  const log = new FailureLog(logger, { what: 'reading', monotonicNow: () => clock.ms });
  log.recovered();
  for (let second = 0; second <= 130; second += 1) {
    log.failed(new Error('the database is unreachable'));
    clock.ms += 1_000;
  }
  log.recovered();
  log.recovered();
  log.failed(new Error('unreachable again'));
  const logged = lines.map(({ level, msg, failures, seconds, reason, err }) =>
    [level, msg, failures, seconds ?? reason, err ? 'with its error' : ''].join('|'),
  );
  assert.deepEqual(logged, casesOf<string[]>('stack', 'log of repeated failures'));
});
it('the log of repeated failures has two lines for the poll of the store, regardless of the number of retries', async () => {
  const { lines, logger } = logging();
  const stop = new AbortController();
  let reads = 0;
  const heads = async () => {
    reads += 1;
    if (reads <= 3) throw new Error('the database is unreachable');
    return { events: 1 } as never;
  };
  const [store, update] = [{ inspection: { heads } }, async () => stop.abort()];
  const deps = { store, logger, events: new EventBus(logger), chains: [[update]], sleep: async () => {} };
  await new UpdateLoop(deps).follow(stop.signal);
  const what = 'reading the positions of the logs';
  const logged = lines.map(({ msg, failures }) => `${msg} ${failures}`);
  assert.deepEqual(logged, [`${what} failed: will retry undefined`, `${what} recovered 3`]);
});
it('polling the store reports changes during a slow update, and waits for it at the end', async () => {
  const [stop, held] = [new AbortController(), Promise.withResolvers<void>()];
  const keys: number[] = [];
  const store = { inspection: { heads: async () => ({ keys: Math.min(keys.length, 2) }) as never } };
  const { logger } = logging();
  const events = new EventBus(logger);
  events.subscribe('logs-polled', ({ heads }) => {
    keys.push(heads.keys);
    if (heads.keys === 2) stop.abort();
  });
  let isOver = false;
  const loop = new UpdateLoop({ store, events, logger, chains: [[() => held.promise]], sleep: async () => {} });
  const following = loop.follow(stop.signal).then(() => {
    isOver = true;
  });
  await nextTurn();
  assert.deepEqual([keys, isOver], [[0, 1, 2], false]);
  held.resolve();
  await following;
});
