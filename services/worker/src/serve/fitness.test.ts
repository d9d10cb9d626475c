import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StoreError } from '@strata/db';
import { EndlessGrammarError } from '@strata/engine';
import { Fitness } from './fitness.ts';
import { Grammars } from './grammars.ts';

function tested() {
  const engine = { isReady: true };
  const clock = { ms: 0 };
  const reasons: (string | undefined)[] = [];
  const fitness = new Fitness({ engine, nowMs: () => clock.ms, onChange: (reason) => reasons.push(reason) });
  return { engine, clock, reasons, fitness };
}

it('a worker rejects requests while its engine does not restart, and reports that once', () => {
  const { engine, clock, reasons, fitness } = tested();
  assert.equal(fitness.failure(), undefined);
  engine.isReady = false;
  assert.equal(fitness.failure(), undefined, 'most restart immediately');
  clock.ms = 2_000;
  for (let time = 0; time < 2; time += 1) assert.equal(fitness.failure()?.code, 'engine-failed');
  engine.isReady = true;
  assert.deepEqual([fitness.failure(), ...reasons], [undefined, 'the engine is restarting', undefined]);
});
it('a worker rejects requests while receipts cannot be stored, and retries with one request after a while', async () => {
  const { clock, reasons, fitness } = tested();
  const failing = (error: Error) => fitness.keeping(() => Promise.reject(error));
  await assert.rejects(failing(new TypeError('a bug')), TypeError);
  for (clock.ms = 0; clock.ms < 10_000; clock.ms += 5_000) {
    assert.equal(fitness.failure(), undefined);
    await assert.rejects(failing(new StoreError('disk-full')), { code: 'busy' });
    assert.equal(fitness.failure()?.code, 'busy');
  }
  assert.deepEqual([await fitness.keeping(async () => 'kept'), fitness.failure()], ['kept', undefined]);
  assert.deepEqual(reasons, ['receipts cannot be stored at present', undefined], 'a trial is not reasons');
});

let nowMs = 0;
const grammars = new Grammars(() => nowMs);
const ends = async () => 'answer';
const failing = (error: Error) => () => Promise.reject(error);
it('an endless grammar is rejected from all gateways, and any grammar of its gateway, for ten minutes', async () => {
  await assert.rejects(grammars.guard('good', 'root ::= "a"', failing(new Error('another fault'))));
  await assert.rejects(grammars.guard('bad', 'root ::= x', failing(new EndlessGrammarError())), EndlessGrammarError);
  await assert.rejects(grammars.guard('bad', 'root ::= "a"', ends), { code: 'busy' });
  await assert.rejects(grammars.guard('good', 'root ::= x', ends), { code: 'grammar-unusable' });
  assert.equal(await grammars.guard('bad', undefined, ends), 'answer', 'a request without a grammar is served');
  assert.equal(await grammars.guard('good', 'root ::= "a"', ends), 'answer');
  nowMs = 599_999;
  await assert.rejects(grammars.guard('bad', 'root ::= "a"', ends), { code: 'busy' });
  nowMs = 600_000;
  assert.equal(await grammars.guard('bad', 'root ::= "a"', ends), 'answer');
});
