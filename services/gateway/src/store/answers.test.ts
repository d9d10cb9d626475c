// Several gateways on one database: receipts in order, and each one's records settled once.

import assert from 'node:assert/strict';
import { openSignedLedger } from '@strata/log';
import { exec } from '../../../../tests/support/database/backends.ts';
import { connect, untilWaiting } from '../../../../tests/support/database/connections.ts';
import { trafficOf } from '../../../../tests/support/database/round-trips.ts';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { SharedMinuteLimiter } from '../limits/minute-limiter.ts';
import { TokenQuota } from '../limits/token-quota.ts';
import { AnswerTable } from './answers/answers.ts';
import type { StoredWrites } from './answers/stored-writes.ts';
import { EARLIER_VERSIONS } from './gateways.ts';
import type { MinuteLimit } from './minute-usage.ts';
import { openStore } from './store.ts';
import { databaseOf, kept, onEach, postgres } from './test/backends.ts';

const receipt = (id: string) => ({ id, keyId: 'key_a', body: '{}' });
const superseded = { code: 'superseded' };
const used = { model: 'm', day: '2026-01-01', promptTokens: 1, cachedTokens: 0, completionTokens: 1 };
const idsOf = (records: readonly { readonly id: string }[]) => records.map(({ id }) => id).join();
const usagesOf = (n: number) => Array.from({ length: n }, (_, i) => ({ ...used, keyId: `k${i}` }));

onEach([postgres], 'several stores', (_backend, test) => {
  test('show no receipt before one that has a smaller number', async (one, url) => {
    await using two = await openStore(url);
    await one.answers.keep([receipt('rwr_1')]);
    // Its number is given, and it waits for another transaction with its id.
    const inserting = "begin; insert into answer_receipts (id, key_id, body) values ('rwr_2', 'key_a', '{}')";
    await using beside = await connect(url, inserting);
    const slow = one.answers.keep([receipt('rwr_2')]);
    await untilWaiting(url, 1);
    const fast = two.answers.keep([receipt('rwr_3')]);
    await Promise.race([fast, untilWaiting(url, 2)]);
    const shown = await one.answers.unentered(10);
    const entering = two.answers.enter(shown.at(-1)?.seq ?? 0, []);
    await beside.query('rollback');
    await Promise.all([slow, fast, entering]);
    const later = await one.answers.unentered(10);
    assert.deepEqual([...shown, ...later].map(({ id }) => id).sort(), ['rwr_1', 'rwr_2', 'rwr_3']);
  });
});

onEach([postgres], 'the shared ledger', (_backend, test) => {
  test('takes a leaf once, whichever gateway appends it', async (store) => {
    await using directory = await temporaryDirectory();
    const of = { directory: directory.path, origin: 'localhost/test', keySetPath: '/keys', now: () => new Date() };
    await using ledger = await openSignedLedger({ ...of, shared: store.ledger });
    const append = (text: string) => ledger.log.append(Buffer.from(text));
    const appended = await Promise.allSettled([append('a'), append('b').then(() => append('a'))]);
    assert.equal(appended.map(({ status }) => status).join(), 'fulfilled,rejected');
    assert.equal((await append('c')).index, 2);
  });
});

onEach(kept, 'the gateway of earlier versions', (_backend, test) => {
  test('has entered what it says, also after the migration', async (store, url) => {
    await store.answers.keep([receipt('rwr_1'), receipt('rwr_2')]);
    await exec(url, "insert into settings (name, value) values ('answers-entered', '1')");
    await store.gateways.readEarlier();
    assert.equal(idsOf(await store.answers.unentered(9)), 'rwr_2');
  });
});

onEach(kept, 'a stored answer that another gateway has taken over', (_backend, test) => {
  test('gets no text and no receipt from the first one, and is settled by none', async (store) => {
    const { gateways, stored } = store;
    const [from, to] = [await gateways.add(), await gateways.add()];
    const [first, second] = [store.answersOf(() => from), store.answersOf(() => to)];
    const added = [{ id: 'a', receiptId: 'rwr_1', keyId: 'key_a', request: '', createdAt: new Date() }];
    await first.keep([], { begun: [receipt('rwr_1')], stored: { added, ended: [] } });
    assert.deepEqual(await first.begun(9), []);
    assert.equal(await stored.takeOver('rwr_1', { from, to }), true);
    assert.equal(await stored.takeOver('rwr_1', { from, to }), false);
    const part = (body: string) => [{ answer: 'a', number: 1, body }];
    assert.deepEqual(await stored.append(part('late'), from), ['a']);
    const end = (number: number, body: string) => {
      const ended = [{ answer: 'a', part: { answer: 'a', number, body }, size: 2 }];
      return { ended: ['rwr_1'], stored: { added: [], ended } };
    };
    await assert.rejects(first.keep([receipt('rwr_1')], end(1, 'late')), superseded);
    assert.deepEqual(await stored.append(part('b'), to), []);
    assert.deepEqual(await stored.append(part('again'), to), []);
    await second.keep([receipt('rwr_1')], end(2, 'c'));
    assert.equal(await stored.read('a', 'key_b', { from: 0 }), undefined);
    const { owner, parts } = (await stored.read('a', 'key_a', { from: 1 })) ?? assert.fail();
    assert.deepEqual([owner, parts.map(({ body }) => body)], [undefined, ['b', 'c']]);
  });
});

onEach(kept, 'a stored answer that its gateway has left', (_backend, test) => {
  test('goes on at a gateway that takes it over, and is settled without one', async (store) => {
    const { gateways, stored } = store;
    await gateways.remove(EARLIER_VERSIONS);
    const from = await gateways.add();
    const first = store.answersOf(() => from);
    for (const n of [1, 2, 9]) {
      const added = [{ id: `a${n}`, receiptId: `rwr_${n}`, keyId: 'key_a', request: '', createdAt: new Date(n) }];
      await first.keep([], { begun: [receipt(`rwr_${n}`)], stored: { added, ended: [] } });
    }
    assert.equal(await stored.leave('rwr_1', from), false, 'no other gateway runs');
    const to = await gateways.add();
    assert.equal(await stored.leave('rwr_1', to), false, 'of another gateway');
    for (const id of ['rwr_1', 'rwr_2', 'rwr_9']) assert.equal(await stored.leave(id, from), true);
    const ended = { ended: ['rwr_1'] };
    await assert.rejects(first.keep([receipt('rwr_1')], ended), superseded);
    const { owner } = (await stored.read('a1', 'key_a', { from: 0 })) ?? assert.fail();
    assert.equal(owner?.heartbeat, undefined);
    assert.equal(await stored.takeOver('rwr_1', { from: owner?.gateway ?? 0, to }), true);
    await store.answersOf(() => to).keep([receipt('rwr_1')], ended);
    const leftBy = async () => (await gateways.all()).find(({ id }) => id === owner?.gateway);
    assert.equal(await leftBy(), undefined);
    await stored.expire(new Date(3));
    const row = (await leftBy()) ?? assert.fail('its record is settled now, though a9 is still stored');
    assert.ok(await gateways.claim(row, to));
    const settling = store.answersOf(() => to);
    assert.equal(idsOf(await settling.begun(9, row.id)), 'rwr_2');
    assert.deepEqual(await settling.unentered(9, row.id), []);
  });
});

onEach(kept, 'a stored answer that is over', (_backend, test) => {
  test('is surplus when its key has 100 newer ones, or too many characters', async (store) => {
    const { answersOf, gateways, stored } = store;
    const gateway = await gateways.add();
    const added = Array.from({ length: 102 }, (_, n) => {
      return { id: `a${n}`, receiptId: `rwr_${n}`, keyId: 'key_a', request: '', createdAt: new Date(n) };
    });
    const keep = (writes: StoredWrites) => answersOf(() => gateway).keep([], { stored: writes });
    const oldest = async () => {
      await stored.removeAll(await stored.surplus(['key_a', 'key_b']));
      const read = await Promise.all(added.map(({ id }) => stored.read(id, 'key_a', { from: 0 })));
      return read.findIndex((state) => state?.parts.length === 1);
    };
    await keep({ added, ended: [] });
    assert.equal(await oldest(), 2);
    await keep({ added: [], ended: [{ answer: 'a50', part: undefined, size: 64 * 1024 * 1024 }] });
    assert.equal(await oldest(), 51);
  });
});

onEach([postgres], 'the records of an ended gateway', (_backend, test) => {
  test('are settled by one other, also when that one ends; it writes nothing later, and other gateways are not affected', async (one, url) => {
    await using two = await openStore(url);
    const { gateways } = one;
    const [ended, first, second] = [await gateways.add(), await gateways.add(), await gateways.add()];
    const ofEnded = one.answersOf(() => ended);
    const [ofFirst, ofSecond] = [two.answersOf(() => first), one.answersOf(() => second)];
    const seq = await ofEnded.keep([receipt('rwr_1')], { begun: [receipt('rwr_2')] });
    const own = await ofSecond.keep([receipt('rwr_3')], { begun: [receipt('rwr_4')] });
    const row = { id: ended, settler: ended, heartbeat: 0 };
    assert.equal(await gateways.claim({ ...row, heartbeat: 1 }, first), false, 'it has written another heartbeat');
    const claims = await Promise.all([gateways.claim(row, first), two.gateways.claim(row, second)]);
    assert.equal(claims.filter((isClaimed) => isClaimed).length, 1);
    const [settling, other] = claims[0] ? [ofFirst, ofSecond] : [ofSecond, ofFirst];
    const [settler, next] = claims[0] ? [first, second] : [second, first];
    assert.equal(await gateways.showRunning(ended), false);
    for (const late of [
      () => ofEnded.keep([receipt('rwr_5')]),
      () => ofEnded.keep([], { begun: [receipt('rwr_5')] }),
      () => ofEnded.enter(seq, usagesOf(1)),
      () => other.enter(seq, usagesOf(1), ended),
    ])
      await assert.rejects(late(), superseded);
    assert.deepEqual(await one.answers.usage({ since: '2000-01-01' }), []);
    const kept = [await settling.unentered(9, ended), await settling.begun(9, ended)];
    assert.deepEqual(kept.map(idsOf), ['rwr_1', 'rwr_2']);
    await gateways.remove(ended, settler);
    const hasRecords = (await gateways.all()).some(({ id }) => id === ended);
    assert.ok(hasRecords);
    assert.ok(await gateways.claim({ ...row, settler }, next));
    await other.enter(seq, usagesOf(1), ended);
    await other.keep([receipt('rwr_2')], { ended: ['rwr_2'] });
    await gateways.remove(ended, next);
    assert.ok(!(await gateways.all()).some(({ id }) => id === ended));
    assert.deepEqual(await one.answers.receipt('rwr_1', 'key_a'), { body: '{}', isEntered: true });
    assert.equal((await one.answers.usage({ since: '2000-01-01' }))[0]?.requests, 1);
    assert.deepEqual([await ofSecond.begun(9)].map(idsOf), ['rwr_4']);
    await gateways.tidy(second, '2026-01-01');
    await ofSecond.enter(own, []);
    assert.equal((await two.answers.receipt('rwr_3', 'key_a'))?.isEntered, true);
  });
});

onEach(kept, 'tokens', (_backend, test) => {
  test('per day are shared by gateways to the token, and what a killed one had reserved is free again', async (store) => {
    const { gateways, tokens: reservations, answers } = store;
    const ids = [await gateways.add(), await gateways.add()];
    const [one, two] = [0, 1].map((n) => new TokenQuota({ reservations, gateway: () => ids[n] ?? 0 }));
    const of = { keyId: 'key_a', day: '2026-01-01', limit: 2_500 };
    const take = async (quota = one) => ({ taken: await (quota ?? assert.fail()).take(of, 100) });
    const first = await take(one);
    const all = [first, ...(await Promise.all(Array.from({ length: 63 }, (_, n) => take(n % 2 ? one : two))))];
    const taken = all.flatMap(({ taken }) => ('settle' in taken ? [taken] : []));
    assert.equal(taken.length, 25);
    assert.equal(await reservations.used(of), 2_500);
    // The killed one has no time to return anything.
    const [killed = 0, other = 0] = ids;
    await gateways.claim({ id: killed, settler: killed, heartbeat: 0 }, other);
    await gateways.remove(killed, other);
    await assert.rejects(reservations.add({ ...of, gateway: killed }, -100), superseded);
    const left = 2_500 - (await reservations.used(of));
    assert.ok(left >= 100);
    const later = await Promise.all(Array.from({ length: 64 }, () => take(two)));
    assert.equal(later.filter(({ taken }) => 'settle' in taken).length, left / 100);
    assert.deepEqual(await answers.usage({ since: of.day }), []);
    // A suspended one continues under another id: what its answers in progress may use is reserved again.
    ids[0] = await gateways.add();
    const before = await reservations.used(of);
    await take(one);
    const again = (await reservations.used(of)) - before;
    assert.ok(again > 0 && again % 100 === 0, `${again}`);
  });
});

onEach(kept, 'the names of network models', (_backend, test) => {
  test('are those of all gateways, and of earlier versions', async (store, url) => {
    await exec(url, `insert into settings (name, value) values ('network-models', '["earlier"]')`);
    assert.deepEqual(await store.networkModels.read(), ['earlier']);
    await Promise.all([['a', 'b'], ['c']].map((ids) => store.networkModels.add(ids)));
    assert.deepEqual([...(await store.networkModels.read())].sort(), ['a', 'b', 'c', 'earlier']);
  });
});

onEach([postgres], 'limits a minute', (_backend, test) => {
  test('are shared by gateways to the request and to the token, and refill', async (store) => {
    const usage = store.minutes ?? assert.fail();
    const limitersOf = (of: MinuteLimit) => [0, 1].map(() => new SharedMinuteLimiter(usage, of));
    const beganAtMs = performance.now();
    const requests = limitersOf({ name: 'requests', limit: 50 });
    const asked = Array.from({ length: 64 }, () => requests.map((limiter) => limiter.take('key_a', 1)));
    const taken = (await Promise.all(asked.flat())).filter((each) => 'settle' in each).length;
    const refilled = Math.ceil((50 * (performance.now() - beganAtMs)) / 60_000);
    assert.ok(taken >= 50 && taken <= 50 + refilled, `${taken}`);
    const [one = assert.fail(), two = assert.fail()] = limitersOf({ name: 'tokens', limit: 1_000 });
    const first = await one.take('key_a', 600);
    const refused = await two.take('key_a', 600);
    assert.ok('settle' in first && 'waitMs' in refused && refused.waitMs > 0 && refused.waitMs <= 12_000);
    assert.ok(refused.left >= 400 && refused.left < 600, `${refused.left}`);
    first.settle(100);
    assert.ok('settle' in (await one.take('key_a', 600)), 'those that were not used are available again');
    assert.ok('waitMs' in (await two.take('key_a', 400)));
    assert.ok('settle' in (await two.take('key_b', 1_000)), 'of another key');
  });
});

onEach([postgres], 'a batch', (_backend, _test, onFresh) => {
  onFresh('is written in one round trip whatever its size', async (url) => {
    await using db = databaseOf(url);
    const answers = new AnswerTable(db);
    for (const n of [1, 8, 64]) {
      const receipts = Array.from({ length: n }, (_, i) => receipt(`rwr_${n}-${i}`));
      for (const write of [() => answers.keep(receipts), () => answers.enter(n, usagesOf(n))])
        assert.deepEqual((await trafficOf(write)).trips, [1, 0], `${n}`);
    }
  });
});
