// Keys with policies and teams: found, changed, rotated and revoked, and the log of it.
import assert from 'node:assert/strict';
import { kept, onEach } from '../test/backends.ts';
import { mayUse } from './policy.ts';

onEach(kept, 'keys of the gateway', (_backend, test) => {
  test('may use what both their policy and their team allow', async ({ keys, teams }) => {
    await teams.set('research', { models: ['a', 'b'], tokensPerDay: 5, spend: null });
    const { key, stored } = await keys.create({ tier: 'free', team: 'research', policy: { models: ['b', 'c'] } });
    const found = await keys.find(key);
    assert.deepEqual(found, stored);
    assert.equal(['a', 'b', 'c', 'd'].filter((model) => mayUse(stored.access, model)).join(), 'b');
    await teams.set('research', { models: null, tokensPerDay: null, spend: { micros: 1, period: 'day' } });
    const access = (await keys.find(key))?.access ?? assert.fail();
    assert.deepEqual(
      access.limits.map(({ subject, spend }) => [subject, spend?.micros]),
      [
        [stored.id, undefined],
        ['team/research', 1],
      ],
    );
    const plain = await keys.create({ tier: 'free' });
    assert.deepEqual([(await keys.find(plain.key))?.access, await teams.has('unknown')], [null, false]);
  });

  test('expire, and after a rotation have the old secret for the overlap only, with the same id', async ({ keys }) => {
    const past = await keys.create({ tier: 'free', policy: { expiresAt: Date.now() - 1 } });
    assert.equal(await keys.find(past.key), undefined);
    const { key, stored } = await keys.create({ tier: 'free' });
    const rotated = (await keys.rotate(stored.id, { overlapMs: 60_000 })) ?? assert.fail();
    const [old, fresh] = [await keys.find(key), await keys.find(rotated.key)];
    assert.deepEqual([old?.id, fresh?.id, fresh?.validUntil], [stored.id, stored.id, null]);
    assert.ok(old?.validUntil && old.validUntil <= Date.now() + 60_000);
    const again = (await keys.rotate(stored.id, { overlapMs: 0 })) ?? assert.fail();
    assert.deepEqual([await keys.find(key), await keys.find(rotated.key)], [undefined, undefined]);
    assert.ok(await keys.revoke(stored.id));
    assert.equal(await keys.find(again.key), undefined);
    assert.equal(await keys.rotate(stored.id, { overlapMs: 0 }), undefined);
    assert.equal(await keys.change(stored.id, { label: 'x' }), undefined);
  });

  test('show the usage of a long range by day, newest first, up to a limit', async ({ usage, gateways, answersOf }) => {
    const gateway = await gateways.add();
    const of = { keyId: 'key_a', model: 'm', promptTokens: 1, cachedTokens: 0, completionTokens: 0 };
    const days = ['2025-12-31', '2026-01-02', '2026-01-02', '2026-03-01'];
    await answersOf(() => gateway).enter(
      0,
      days.map((day) => ({ ...of, day })),
    );
    const totals = async (since: string, until: string | undefined, limit = 9) =>
      (await usage.totals({ since, until, limit })).map(({ day, requests }) => `${day} ${requests}`).join();
    assert.equal(await totals('0001-01-01', undefined), '2026-03-01 1,2026-01-02 2,2025-12-31 1');
    assert.equal(await totals('2026-01-01', '2026-02-28'), '2026-01-02 2');
    assert.equal(await totals('2025-01-01', undefined, 2), '2026-03-01 1,2026-01-02 2');
  });

  test('log each change with who made it, and no secret; gateways notice changes', async (store) => {
    const { keys, teams, audit, revocations } = store;
    const { key, stored } = await keys.create({ tier: 'free', label: 'a' }, 'key_admin');
    const before = await revocations();
    await keys.change(stored.id, { label: 'b', tokensPerDay: 7 }, 'key_admin');
    const rotated = await keys.rotate(stored.id, { overlapMs: 1 }, 'key_admin');
    await keys.revoke(stored.id);
    assert.equal(await keys.revoke(stored.id), false);
    await teams.setPrice('m', { input: 1, cached: 1, output: 2 });
    assert.equal(await teams.setPrice('other', null), false);
    assert.ok((await revocations()) >= before + 4);
    const log = await audit.list({ limit: 9 });
    const actions = log.map(({ action, actor, target }) =>
      `${action} ${actor} ${target === stored.id ? '' : target}`.trim(),
    );
    const own = ['key.rotate key_admin', 'key.change key_admin', 'key.create key_admin'];
    assert.deepEqual(actions, ['price.set local m', 'key.revoke local', ...own]);
    const changed = log.at(-2) ?? assert.fail();
    assert.partialDeepStrictEqual(
      [changed.before, changed.after],
      [
        { label: 'a', tokensPerDay: null },
        { label: 'b', tokensPerDay: 7 },
      ],
    );
    const page = await audit.list({ limit: 2, before: log[1]?.seq });
    assert.deepEqual(
      page.map(({ seq }) => seq),
      log.slice(2, 4).map(({ seq }) => seq),
    );
    const text = JSON.stringify(log);
    for (const secret of [key, rotated?.key ?? '', 'hash']) assert.ok(!text.includes(secret));
    await audit.forget(new Date(Date.now() + 60_000));
    assert.deepEqual(await audit.list({ limit: 9 }), []);
  });

  test('are listed in pages, of a team or all', async ({ keys, teams }) => {
    await teams.set('t', { models: null, tokensPerDay: null, spend: null });
    const earlier = await keys.list();
    for (const team of ['t', null, 't']) await keys.create({ tier: 'free', team });
    const all = (await keys.list()).slice(earlier.length);
    const ids: string[] = [];
    for (let before: Partial<NonNullable<Parameters<typeof keys.list>[0]>> = {}; ; ) {
      const [next] = await keys.list({ limit: 1, team: 't', ...before });
      if (!next) break;
      ids.push(next.id);
      before = { before: { createdAtMs: next.createdAt.getTime(), id: next.id } };
    }
    assert.deepEqual(
      ids.toReversed(),
      all.filter(({ access }) => access?.team === 't').map(({ id }) => id),
    );
  });
});
