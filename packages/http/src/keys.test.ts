import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ErrorCode } from './errors.ts';
import { Refusal } from './errors.ts';
import { KeyCheck } from './keys.ts';
import type { ApiKey } from './route.ts';

const key: ApiKey = { id: 'k1', tier: 'free', dailyLimit: 2 };

/** A gate over a map that counts how often it is asked, and a clock that the test turns. */
function createGate() {
  const state = {
    keys: new Map([['ssk_good', key]]),
    finds: 0,
    used: 0,
    monotonicMs: 1,
    at: '2026-05-01T23:59:30.250Z',
  };
  const check = new KeyCheck(
    {
      // Not async: a gate may fail before it has a promise to give.
      find(presented) {
        state.finds += 1;
        return Promise.resolve(state.keys.get(presented));
      },
      async take(_id, _day, limit) {
        if (state.used >= limit) return { isAllowed: false, used: limit };
        state.used += 1;
        return { isAllowed: true, used: state.used };
      },
    },
    () => new Date(state.at),
    () => state.monotonicMs,
  );
  return { state, check };
}

function refusedWith(code: ErrorCode) {
  return (error: unknown) => error instanceof Refusal && error.code === code;
}

describe('the key check', () => {
  it('forgets what it remembers when the gate says that a key may have been revoked', async () => {
    let revision = 0;
    let finds = 0;
    let isThere = true;
    let found = () => {};
    const check = new KeyCheck(
      {
        async find() {
          finds += 1;
          const seen = isThere ? { ...key, dailyLimit: null } : undefined;
          if (finds === 2) await new Promise<void>((resolve) => (found = resolve));
          return seen;
        },
        take: () => assert.fail('nothing is counted'),
        revision: () => revision,
      },
      () => new Date(),
    );
    await check.identify('ssk_good');
    assert.ok(check.isKnownUncounted('ssk_good'));
    revision = 1;
    assert.ok(!check.isKnownUncounted('ssk_good'));
    // Revoked while it is looked for: whoever asked before gets it, nobody after.
    const asked = check.identify('ssk_good');
    isThere = false;
    revision = 2;
    await assert.rejects(async () => check.identify('ssk_good'), refusedWith('invalid_key'));
    found();
    await asked;
    assert.ok(!check.isKnownUncounted('ssk_good'));
    await assert.rejects(async () => check.identify('ssk_good'), refusedWith('invalid_key'));
  });

  it('refuses a missing, repeated, overlong or unknown key, and says how to send one', async () => {
    const { check } = createGate();
    for (const missing of [undefined, ''])
      await assert.rejects(async () => check.identify(missing), refusedWith('missing_key'));
    for (const wrong of ['ssk_good, ssk_good', ['ssk_good', 'ssk_good'], 'x'.repeat(201), 'ssk_other'])
      await assert.rejects(async () => check.identify(wrong), refusedWith('invalid_key'));
    await assert.rejects(
      async () => check.identify('ssk_other'),
      (error: Refusal) => /X-Stack-Key/.test(error.headers['www-authenticate'] ?? ''),
    );
  });

  it('remembers a key, so that the next request does not wait for the gate', async () => {
    const { state, check } = createGate();
    assert.equal(await check.identify('ssk_good'), key);
    assert.equal(check.identify('ssk_good'), key, 'at once, not a promise');
    assert.equal(state.finds, 1);
  });

  it('asks the gate once for requests that come together', async () => {
    const { state, check } = createGate();
    await Promise.all([check.identify('ssk_good'), check.identify('ssk_good'), check.identify('ssk_good')]);
    assert.equal(state.finds, 1);
  });

  it('forgets a revoked key within two seconds', async () => {
    const { state, check } = createGate();
    await check.identify('ssk_good');
    state.keys.clear();
    state.monotonicMs = 2_002;
    await assert.rejects(async () => check.identify('ssk_good'), refusedWith('invalid_key'));
  });

  it('remembers a key for longer where the gate tells of revocations, and not for ever: its news may be lost', async () => {
    let finds = 0;
    const clock = { ms: 1 };
    const find = async () => {
      finds += 1;
      return key;
    };
    const gate = { find, take: () => assert.fail('nothing is counted'), revision: () => 0 };
    const check = new KeyCheck(
      gate,
      () => new Date(),
      () => clock.ms,
    );
    for (const ms of [0, 3_000, 26_000]) {
      clock.ms += ms;
      await check.identify('ssk_good');
    }
    assert.equal(finds, 1);
    clock.ms += 1_001;
    await check.identify('ssk_good');
    assert.equal(finds, 2);
  });

  it('remembers a wrong key as briefly, and apart from the good ones', async () => {
    const { state, check } = createGate();
    await check.identify('ssk_good');
    const from = (i: number) => `198.18.${i >> 8}.${i & 255}`;
    for (let i = 0; i < 10_100; i += 1) await assert.rejects(async () => check.identify(`ssk_${i}`, from(i)));
    const finds = state.finds;
    assert.equal(check.identify('ssk_good'), key, 'guesses pushed it out');
    await assert.rejects(async () => check.identify('ssk_10099'), refusedWith('invalid_key'));
    assert.equal(state.finds, finds);
    state.keys.set('ssk_10099', key);
    state.monotonicMs = 2_002;
    assert.equal(await check.identify('ssk_10099'), key);
  });

  it('lets an address guess for a while, then looks up only keys that were good before', async () => {
    const { state, check } = createGate();
    await check.identify('ssk_good', '192.0.2.1');
    const guess = (i: number, from: string) => check.identify(`ssk_${i}`, from);
    await Promise.allSettled(Array.from({ length: 150 }, async (_, i) => guess(i, '192.0.2.1')));
    assert.equal(state.finds, 101, 'guesses that come at once count as many');
    await assert.rejects(
      async () => guess(200, '192.0.2.1'),
      (error: Refusal) => refusedWith('quota_exceeded')(error) && error.headers['retry-after'] === '60',
    );
    assert.equal(state.finds, 101);
    state.monotonicMs += 3_000;
    assert.equal(
      await check.identify('ssk_good', '192.0.2.1'),
      key,
      'forgotten by the short memory, and yet looked up',
    );
    await assert.rejects(async () => guess(200, '192.0.2.2'), refusedWith('invalid_key'), 'another address is another');
    state.monotonicMs += 60_000;
    await assert.rejects(async () => guess(201, '192.0.2.1'), refusedWith('invalid_key'));
  });

  it('counts one line to the internet as one caller, and good keys as no guess', async () => {
    const { state, check } = createGate();
    for (let i = 0; i < 150; i += 1) state.keys.set(`ssk_good${i}`, key);
    for (let i = 0; i < 150; i += 1) assert.equal(await check.identify(`ssk_good${i}`, '2001:db8::1'), key);
    for (let i = 0; i < 100; i += 1)
      await assert.rejects(async () => check.identify(`ssk_${i}`, `2001:db8::${i + 1}`), refusedWith('invalid_key'));
    await assert.rejects(async () => check.identify('ssk_x', '2001:db8::ffff'), refusedWith('quota_exceeded'));
  });

  it('does not remember that the gate failed', async () => {
    const { state, check } = createGate();
    const get = state.keys.get.bind(state.keys);
    state.keys.get = () => {
      throw new Error('the database is gone');
    };
    await assert.rejects(async () => check.identify('ssk_good'), /gone/);
    state.keys.get = get;
    assert.equal(await check.identify('ssk_good'), key);
  });

  it('goes on knowing an uncounted key for a minute while the gate fails, and no other', async () => {
    const { state, check } = createGate();
    const unlimited: ApiKey = { ...key, dailyLimit: null };
    state.keys.set('ssk_unlimited', unlimited);
    state.keys.set('ssk_unseen', unlimited);
    await check.identify('ssk_unlimited');
    await check.identify('ssk_good');
    const get = state.keys.get.bind(state.keys);
    state.keys.get = () => {
      throw new Error('the database is gone');
    };
    state.monotonicMs = 30_000;
    assert.equal(await check.identify('ssk_unlimited'), unlimited);
    const { finds } = state;
    state.monotonicMs = 39_999;
    assert.equal(check.isKnownUncounted('ssk_unlimited'), true, 'nobody waits for the gate again and again');
    assert.equal(state.finds, finds);
    await assert.rejects(async () => check.identify('ssk_good'), /gone/, 'what it asks cannot be counted');
    await assert.rejects(async () => check.identify('ssk_unseen'), /gone/);
    state.monotonicMs = 59_000;
    assert.equal(await check.identify('ssk_unlimited'), unlimited);
    state.monotonicMs = 60_002;
    await assert.rejects(
      async () => check.identify('ssk_unlimited'),
      /gone/,
      'a minute is over, however often it was asked',
    );
    state.keys.get = get;
    assert.equal(await check.identify('ssk_unlimited'), unlimited);
  });

  it('waits two seconds for a silent gate where a key is remembered, and hears what it says in the end', async () => {
    let find = async (): Promise<ApiKey | undefined> => ({ ...key, dailyLimit: null });
    const clock = { ms: 1 };
    const check = new KeyCheck(
      { find: () => find(), take: () => assert.fail('nothing is counted') },
      () => new Date(),
      () => clock.ms,
    );
    await check.identify('ssk_good');
    clock.ms += 3_000;
    const late = Promise.withResolvers<ApiKey | undefined>();
    find = () => late.promise;
    assert.equal((await check.identify('ssk_good')).dailyLimit, null);
    assert.equal(check.isKnownUncounted('ssk_good'), true);
    late.resolve(undefined);
    await late.promise;
    await new Promise(setImmediate);
    assert.equal(check.isKnownUncounted('ssk_good'), false, 'it was revoked meanwhile');
  });

  it('knows a key no longer that was revoked, though the gate fails afterwards', async () => {
    for (const how of ['is told of it', 'has seen it'] as const) {
      let revision = 0;
      let find = async (): Promise<ApiKey | undefined> => ({ ...key, dailyLimit: null });
      const clock = { ms: 1 };
      const check = new KeyCheck(
        { find: () => find(), take: () => assert.fail('nothing is counted'), revision: () => revision },
        () => new Date(),
        () => clock.ms,
      );
      await check.identify('ssk_good');
      clock.ms += 31_000;
      if (how === 'has seen it') {
        find = async () => undefined;
        await assert.rejects(async () => check.identify('ssk_good'), refusedWith('invalid_key'));
      } else revision = 1;
      clock.ms += 3_000;
      find = () => Promise.reject(new Error('gone'));
      await assert.rejects(async () => check.identify('ssk_good'), /gone/, how);
    }
  });

  it('takes the short way only for a key that it knows and need not count', async () => {
    const { state, check } = createGate();
    state.keys.set('ssk_unlimited', { ...key, dailyLimit: null });
    assert.equal(check.isKnownUncounted('ssk_unlimited'), false, 'not seen yet');
    await check.identify('ssk_unlimited');
    await check.identify('ssk_good');
    assert.equal(check.isKnownUncounted('ssk_unlimited'), true);
    assert.equal(check.isKnownUncounted('ssk_good'), false);
    for (const header of [undefined, '', ['ssk_unlimited'], 'x'.repeat(201)])
      assert.equal(check.isKnownUncounted(header), false);
    state.monotonicMs = 2_002;
    assert.equal(check.isKnownUncounted('ssk_unlimited'), false, 'forgotten');
  });

  it('tells what is left, and with 429 when the day begins anew', async () => {
    const { check } = createGate();
    assert.deepEqual(await check.count(key), {
      'ratelimit-policy': '"free";q=2;w=86400',
      ratelimit: '"free";r=1;t=30',
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': '30',
    });
    await check.count(key);
    await assert.rejects(
      check.count(key),
      (error: Refusal) => error.code === 'quota_exceeded' && error.headers['retry-after'] === '30',
    );
    assert.deepEqual(await check.count({ ...key, dailyLimit: null }), {});
  });
});
