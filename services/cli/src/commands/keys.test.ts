import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { runStrata, temporaryDirectory } from '../test/run-strata.ts';

describe('strata stack keys', () => {
  it('makes, lists and revokes keys, for people and as JSON', async () => {
    await using data = await temporaryDirectory();
    const keys = (...args: string[]) => runStrata(['stack', 'keys', ...args], { env: { STRATA_DATA: data.path } });

    for (const looking of [['list'], ['revoke', 'key_x']]) {
      const { code, stdout, stderr } = await keys(...looking);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(
        stderr,
        /^strata: there is no database .+\/strata\.db: no service has run with these settings; STRATA_CONFIG/,
      );
    }
    assert.deepEqual(readdirSync(data.path), [], 'looking makes nothing');
    const free = await keys('create', '--label', 'Test GmbH, "R&D"');
    assert.equal(free.code, 0);
    assert.match(free.stdout, /^ssk_[\w-]{43}\n$/);
    assert.match(free.stderr, /free \(50 a day\)/);
    assert.ok(free.stderr.includes(`It is in ${path.join(data.path, 'strata.db')}.`));
    const made = JSON.parse((await keys('create', '--tier', 'unlimited', '--json')).stdout);
    assert.deepEqual([made.tier, made.daily_limit, made.label, made.revoked_at], ['unlimited', null, null, null]);
    assert.match(made.key, /^ssk_/);

    const revoked = await keys('revoke', made.id);
    assert.deepEqual([revoked.code, revoked.stderr], [0, '']);
    const again = await keys('revoke', made.id, '--json');
    assert.deepEqual([again.code, again.stdout], [1, '']);
    assert.match(again.stderr, /^strata: there is no active key with the id 'key_\w+'\n$/);

    const table = await keys('list');
    assert.match(table.stdout, /free\s+50 a day\s+normal\s+\S+Z\s+active\s+Test GmbH, "R&D"/);
    assert.match(table.stdout, /unlimited\s+unlimited\s+normal\s+\S+Z\s+revoked/);
    const listed = JSON.parse((await keys('list', '--json')).stdout);
    assert.equal(listed.length, 2);
    assert.ok(listed[1].revoked_at);
    // What was shown once is never shown again.
    assert.doesNotMatch(table.stdout + JSON.stringify(listed), /ssk_/);
  });

  it('gives keys of the gateway a priority, and knows no other tiers and priorities than there are', async () => {
    await using data = await temporaryDirectory();
    const create = (service: string, ...args: readonly string[]) =>
      runStrata([service, 'keys', 'create', '--json', ...args], { env: { STRATA_DATA: data.path } });
    assert.equal(JSON.parse((await create('inference')).stdout).priority, 'normal');
    assert.equal(JSON.parse((await create('inference', '--priority', 'low')).stdout).priority, 'low');
    for (const [args, words] of [
      [['inference', '--priority', 'highest'], /there is no priority 'highest'; there are: low, normal, high/],
      [['stack', '--tier', 'toString'], /there is no tier 'toString'; there are: free, standard, unlimited/],
    ] as const) {
      const { code, stderr } = await create(args[0], ...args.slice(1));
      assert.equal(code, 2);
      assert.match(stderr, words);
    }
  });

  it('rotates the signing keys', async () => {
    await using data = await temporaryDirectory();
    const rotate = (more = {}) =>
      runStrata(['stack', 'keys', 'rotate-signing', '--json'], { env: { STRATA_DATA: data.path, ...more } });
    const [first, second] = [JSON.parse((await rotate()).stdout), JSON.parse((await rotate()).stdout)];
    assert.ok(first.receipt_key_id && first.ledger_key_id);
    assert.notEqual(first.receipt_key_id, second.receipt_key_id);
    assert.notEqual(first.ledger_key_id, second.ledger_key_id);
    const sqlite = await rotate({ STRATA_DATABASE_URL: `sqlite:${path.join(data.path, 'x.db')}` });
    assert.deepEqual([sqlite.code, sqlite.stderr], [0, '']);
  });
});
