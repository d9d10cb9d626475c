// Segments, and receipts and usage of answers: counted once, entered together, summed exactly, deleted by age.
import assert from 'node:assert/strict';
import { type SegmentRecord, SegmentTable } from '@strata/segments';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { AnswerTable, type AnswerUsage } from './answers/answers.ts';
import { type GatewayStore, openStore } from './store.ts';
import { kept, onEach, plansOf } from './test/backends.ts';
import { TokenReservations } from './token-reservations.ts';

const T0 = Date.UTC(2026, 0, 31);
const [SIGNATURE, NONE] = [new Uint8Array(64).fill(1), new Uint8Array()];
const BY = ['worker', 'gateway', 'caller', 'model', 'day'] as const;

const nonceOf = (n: number) => Uint8Array.from(Buffer.from(String(n).padStart(16, '0')));

const segment = (n: number, more: Partial<SegmentRecord> = {}): SegmentRecord => ({
  ...{ nonce: nonceOf(n), worker: 'worker-a', gateway: 'gateway', caller: 'key_a', modelSha256: 'a'.repeat(64) },
  ...{ promptTokens: 100, cachedTokens: 40, outputTokens: 7, endedAtMs: T0 + n, receipt: Uint8Array.of(8, 1, n) },
  ...{ workerSignature: new Uint8Array(64).fill(2), gatewaySignature: undefined },
  ...more,
});

onEach(kept, 'segments', (_backend, test) => {
  test('are returned as they were stored, newest first, page by page', async ({ segments }) => {
    const stored = [segment(1), segment(2, { caller: undefined }), segment(3, { gatewaySignature: SIGNATURE })];
    for (const one of stored) assert.equal(await segments.put(one), true);
    for (const one of stored) assert.deepEqual(await segments.get(one.nonce), one);
    assert.equal(await segments.get(nonceOf(77)), undefined);
    const [first, second, third] = stored;
    for (const [page, expected] of [
      [{ limit: 10 }, [third, second, first]],
      [{ limit: 1 }, [third]],
      [{ limit: 1, before: nonceOf(3) }, [second]],
      [{ limit: 9, before: nonceOf(1) }, []],
      [{ limit: 9, before: nonceOf(77) }, []],
    ] as const)
      assert.deepEqual(await segments.list(page), expected);
  });

  test('are settled once, and only where there is something to settle', async ({ segments }) => {
    await segments.put(segment(1));
    assert.equal(await segments.settle(nonceOf(2), SIGNATURE), false);
    const signatures = [SIGNATURE, new Uint8Array(64)];
    const settled = await Promise.all(signatures.map((signature) => segments.settle(nonceOf(1), signature)));
    assert.deepEqual(settled.toSorted(), [false, true]);
    const gatewaySignature = signatures[settled.indexOf(true)];
    assert.deepEqual(await segments.get(nonceOf(1)), segment(1, { gatewaySignature }));
    assert.equal(await segments.settle(nonceOf(1), SIGNATURE), false);
  });

  test('lose their proofs when they are old, some at a time, and are counted as before', async ({ segments }) => {
    for (let n = 0; n < 10; n += 1) await segments.put(segment(n, n % 2 ? {} : { gatewaySignature: SIGNATURE }));
    const totals = await segments.totals({ by: 'worker' });
    for (const expected of [4, 2, 0]) assert.equal(await segments.forgetProofs(T0 + 6, 4), expected);
    assert.deepEqual(await segments.totals({ by: 'worker' }), totals);
    const bare = { receipt: NONE, workerSignature: NONE };
    assert.deepEqual(await segments.get(nonceOf(5)), segment(5, bare));
    assert.deepEqual(await segments.get(nonceOf(4)), segment(4, { ...bare, gatewaySignature: NONE }));
    assert.deepEqual(await segments.get(nonceOf(7)), segment(7));
    assert.equal(await segments.put(segment(5)), false, 'a nonce counts once all the same');
  });

  test('have totals that are exact by worker, gateway, caller, model and day, over any span', async ({ segments }) => {
    const all = Array.from({ length: 210 }, (_, n) =>
      segment(n, {
        ...{ worker: `worker-${n % 7}`, gateway: `gateway-${n % 2}`, caller: n % 3 === 0 ? undefined : `key_${n % 3}` },
        ...{ modelSha256: String(n % 5).repeat(64), promptTokens: 1_000_000 - n, cachedTokens: n, outputTokens: n * n },
        ...{ endedAtMs: T0 + n * 2_500_003, gatewaySignature: n % 4 === 0 ? SIGNATURE : undefined },
      }),
    );
    for (const one of all) await segments.put(one);
    const keys: Record<(typeof BY)[number], (one: SegmentRecord) => string> = {
      worker: ({ worker }) => worker,
      gateway: ({ gateway }) => gateway,
      caller: ({ caller }) => caller ?? '',
      model: ({ modelSha256 }) => modelSha256,
      day: ({ endedAtMs }) => new Date(endedAtMs).toISOString().slice(0, 10),
    };
    for (const by of BY)
      for (const span of casesOf<{ fromMs?: number; toMs?: number }[]>('gateway', 'spans of segments')) {
        const { fromMs = 0, toMs = Number.POSITIVE_INFINITY } = span;
        const within = all.filter(({ endedAtMs }) => endedAtMs >= fromMs && endedAtMs < toMs);
        const expected = [...Map.groupBy(within, keys[by])].map(([key, group]) => {
          const sum = (of: (one: SegmentRecord) => number) => group.reduce((total, one) => total + of(one), 0);
          return {
            ...{ key, segments: group.length, settled: sum((one) => (one.gatewaySignature ? 1 : 0)) },
            ...{ promptTokens: sum((one) => one.promptTokens), cachedTokens: sum((one) => one.cachedTokens) },
            outputTokens: sum((one) => one.outputTokens),
          };
        });
        expected.sort((a, b) => (a.key < b.key ? -1 : 1));
        assert.deepEqual(await segments.totals({ by, ...span }), expected, `${by} ${JSON.stringify(span)}`);
      }
  });

  test('have beside them the last reputation of each peer, of all gateways', async ({ reputations }, url) => {
    const [{ revision }, second] = [await reputations.read(), await openStore(url)];
    for (const [peer, text] of ['a1', 'b2', 'c3']) await reputations.update(peer ?? '', () => text);
    await second.reputations.update('a', (stored) => `${stored}4`);
    await second.reputations.update('c', () => undefined);
    await second[Symbol.asyncDispose]();
    const changed = await reputations.read(revision);
    assert.deepEqual(Object.fromEntries(changed.texts), { a: '14', b: '2' });
    assert.equal((await reputations.read(changed.revision)).texts.size, 0);
  });
});

onEach(kept, 'segments', (_backend, test) => {
  test('count once, whatever a second receipt with the same nonce contains, in two processes too', async (one, url) => {
    await using other = await openStore(url);
    const first = segment(1);
    const another = segment(1, { worker: 'worker-b', outputTokens: 1_000_000, gatewaySignature: SIGNATURE });
    assert.equal(await one.segments.put(first), true);
    const again = await Promise.all([first, another].map((each) => one.segments.put(each)));
    assert.deepEqual([again, await one.segments.list({ limit: 10 })], [[false, false], [first]]);
    const nonces = Array.from({ length: 50 }, (_, n) => n + 2);
    const puts = await Promise.all(
      nonces.flatMap((n) => [one, other].map((store, at) => store.segments.put(segment(n, { outputTokens: at })))),
    );
    assert.equal(puts.filter((isNew) => isNew).length, 50);
    assert.equal((await one.segments.totals({ by: 'gateway' }))[0]?.segments, 51);
  });

  test('are summed and listed by an index, and receipts of answers too', async (store, url) => {
    for (let n = 0; n < 300; n += 1) await store.segments.put(segment(n));
    for (let n = 0; n < 300; n += 1) await store.answers.keep([receipt(`rwr_${n}`)]);
    const usages = Array.from({ length: 100 }, (_, n) => used({ keyId: `k${n}` }));
    await store.answers.enter(300, usages);
    const plans = await plansOf(url, async (db) => {
      const segments = new SegmentTable(db);
      for (const by of BY) await segments.totals({ by, fromMs: T0 + 1, toMs: T0 + 3 });
      await segments.settle(nonceOf(1), SIGNATURE);
      await segments.list({ limit: 3, before: nonceOf(200) });
      await segments.get(nonceOf(1));
      await segments.forgetProofs(T0 + 3, 2);
    });
    assert.equal(plans.length, 18);
    const ofAnswers = await plansOf(url, async (db) => {
      const answers = new AnswerTable(db);
      await answers.enter(await answers.keep([receipt('rwr_new')]), usages);
      await answers.unentered(5);
      await answers.receipt('rwr_1', 'key_a');
      await answers.forget('rwr_2', 5);
      await new TokenReservations(db).used({ keyId: 'k1', day: '2026-01-01' });
    });
    for (const { sql, scans, isSorted, text } of ofAnswers) {
      const isBounded = / limit /.test(sql) || text.includes('"Node Type": "Limit"');
      const read = scans.filter((name) => /^(?:answer_receipts|token_usage)/.test(name));
      assert.ok(read.length === 0 || (isBounded && !isSorted), `${sql}\n${text}`);
    }
    for (const { sql, scans, indexes, isSorted, text } of plans) {
      assert.deepEqual(scans, [], `${sql}\n${text}`);
      assert.ok(indexes.length > 0, `${sql}\n${text}`);
      if (sql.includes('length(receipt)')) assert.ok(indexes.includes('segments_proved'), text);
      if (sql.includes('sum(')) assert.ok(indexes.includes('segments_ended'), text);
      if (sql.includes('"seq" desc')) assert.equal(isSorted, false, `${sql}\n${text}`);
    }
  });
});

const used = (more: Partial<AnswerUsage> = {}): AnswerUsage => ({
  ...{ keyId: 'key_a', model: 'm', day: '2026-01-01', promptTokens: 10, cachedTokens: 4, completionTokens: 3 },
  ...more,
});
const receipt = (id: string) => ({ id, keyId: 'key_a', body: `{"id":"${id}"}` });
const unentered = async ({ answers }: GatewayStore) => (await answers.unentered(10)).map(({ id }) => id).join();

onEach(kept, 'receipts', (_backend, test) => {
  test('name model files, each by its last name', async ({ answers }) => {
    const models = Object.entries({ once: 'a', other: 'b', now: 'a', upstream: null });
    // With texts that PostgreSQL does not accept.
    const bodies = models.map(([id, sha256]) => JSON.stringify({ model: { id, sha256 }, x: '\0\ud800' }));
    await answers.keep(bodies.map((body, i) => ({ ...receipt(`rwr_${i}`), body })));
    assert.deepEqual(Object.fromEntries(await answers.modelNames()), { a: 'now', b: 'other' });
  });

  test('are stored together or not at all, in order', async (store) => {
    await assert.rejects(store.answers.keep([receipt('rwr_1'), receipt('rwr_1')]));
    assert.equal(await unentered(store), '');
    const one = await store.answers.keep([receipt('rwr_1')]);
    const three = await store.answers.keep([receipt('rwr_3'), receipt('rwr_2')]);
    assert.ok(three >= one + 2);
    assert.equal(await unentered(store), 'rwr_1,rwr_3,rwr_2');
  });

  test('are given to the key that asked, once they were entered', async ({ answers }) => {
    const [one, two] = [await answers.keep([receipt('rwr_1')]), await answers.keep([receipt('rwr_2')])];
    assert.equal((await answers.receipt('rwr_1', 'key_a'))?.isEntered, false);
    assert.deepEqual(await answers.unentered(1), [{ seq: one, ...receipt('rwr_1') }]);
    await answers.enter(one, [used()]);
    assert.deepEqual(await answers.receipt('rwr_1', 'key_a'), { body: '{"id":"rwr_1"}', isEntered: true });
    assert.equal(await answers.receipt('rwr_1', 'key_b'), undefined);
    assert.equal((await answers.receipt('rwr_2', 'key_a'))?.isEntered, false);
    assert.deepEqual(await answers.unentered(10), [{ seq: two, ...receipt('rwr_2') }]);
  });

  test('are deleted by age, a number at a time, and never before they were entered', async (store) => {
    const { answers } = store;
    for (const id of ['rwr_1', 'rwr_2', 'rwr_3', 'rwr_4']) await answers.keep([receipt(id)]);
    const [, , third] = await answers.unentered(10);
    await answers.enter(third?.seq ?? 0, []);
    assert.deepEqual([await answers.forget('rwr_9', 1), await answers.forget('rwr_3', 10)], [1, 1]);
    assert.ok((await answers.receipt('rwr_3', 'key_a'))?.isEntered);
    assert.deepEqual([await answers.forget('rwr_9', 10), await unentered(store)], [1, 'rwr_4']);
  });

  test('come with usage counted by key, model and day, within one batch and over several', async ({
    answers,
    tokens,
  }) => {
    const small = used({ promptTokens: 1, cachedTokens: 0, completionTokens: 1 });
    await answers.enter(4, [used(), small, used({ model: 'n' }), used({ keyId: 'key_b' })]);
    await answers.enter(6, [used(), used({ day: '2026-01-02' })]);
    assert.deepEqual(await answers.usage({ since: '2026-01-01', keyId: 'key_a' }), [
      { ...used({ day: '2026-01-02' }), requests: 1, spendMicros: 0 },
      { ...used({ promptTokens: 21, cachedTokens: 8, completionTokens: 7 }), requests: 3, spendMicros: 0 },
      { ...used({ model: 'n' }), requests: 1, spendMicros: 0 },
    ]);
    const usedOn = (keyId: string, day: string) => tokens.used({ keyId, day });
    assert.equal(await usedOn('key_a', '2026-01-01'), 28 + 13 + 13, 'that day and later ones');
    assert.deepEqual([await usedOn('key_a', '2026-01-02'), await usedOn('key_c', '2026-01-01')], [13, 0]);
    assert.equal((await answers.usage({ since: '2026-01-02' })).length, 1);
  });
});
