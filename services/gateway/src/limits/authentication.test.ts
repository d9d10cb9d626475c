// Keys that are revoked during their lookup, or during their requests.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { it } from 'node:test';
import { CompletionError } from '@strata/inference';
import type { GatewayKey } from '../store/access/policy.ts';
import { Authentication } from './authentication.ts';

it('a cached key expires by the clock of the database', async () => {
  let [at, finds] = [1_000, 0];
  const find = async (id: string) => {
    finds += 1;
    return at < 2_000 ? ({ id, validUntil: 2_000 } as GatewayKey) : undefined;
  };
  const keys = { find, stillValid: async () => new Set<string>() };
  const callers = new Authentication({ keys }, { areKeysFree: false, now: () => new Date(at) });
  for (at of [1_000, 1_999]) await callers.identify('Bearer sk-a', '192.0.2.1');
  assert.equal(finds, 1);
  at = 2_000;
  await assert.rejects(async () => callers.identify('Bearer sk-a', '192.0.2.1'), { kind: 'invalid_api_key' });
});

it('a revocation takes effect during a lookup, while the store fails, and in open requests', async () => {
  const valid = new Set(['sk-a', 'sk-b']);
  let [isAway, held] = [false, Promise.resolve()];
  const keys = {
    async find(id: string) {
      const key = valid.has(id) ? ({ id, validUntil: null } as GatewayKey) : undefined;
      await held;
      return key;
    },
    async stillValid() {
      if (isAway) throw new Error('the database is offline');
      return valid;
    },
  };
  const callers = new Authentication({ keys }, { areKeysFree: false });
  const enter = async (key: string) => {
    const response = Object.assign(new EventEmitter(), { destroy() {} }) as unknown as ServerResponse;
    return { ...(await callers.enter(`Bearer ${key}`, '192.0.2.1', response)), response };
  };
  const [first, second, left] = [await enter('sk-a'), await enter('sk-b'), await enter('sk-a')];
  left.response.emit('close');
  const release = Promise.withResolvers<void>();
  held = release.promise;
  valid.delete('sk-a');
  isAway = true;
  await assert.rejects(callers.endRevoked(), /offline/);
  isAway = false;
  valid.add('sk-a');
  const late = enter('sk-a');
  valid.delete('sk-a');
  await callers.endRevoked();
  release.resolve();
  await assert.rejects(late, { kind: 'invalid_api_key' });
  assert.ok(first.revoked.reason instanceof CompletionError);
  assert.deepEqual([second.revoked.aborted, left.revoked.aborted], [false, false]);
});
