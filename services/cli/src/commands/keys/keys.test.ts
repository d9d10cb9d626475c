// `strata stack keys` and `strata inference keys`.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { casesOf, temporaryDirectory } from '../../../../../tests/support/index.ts';
import { assertEnds, jsonOf, succeed } from '../../test/run-strata.ts';

it('strata stack keys makes, lists and revokes keys, for people and as JSON', async () => {
  await using data = await temporaryDirectory();
  const env = { STRATA_DATA: data.path };
  const none = /^strata: database .+\/strata\.db does not exist; set STRATA_CONFIG/;
  for (const reading of ['list', 'revoke key_x'])
    assert.equal((await assertEnds(`stack keys ${reading}`, 1, none, { env })).stdout, '');
  assert.deepEqual(readdirSync(data.path), [], 'reading makes nothing');
  const labelled = ['stack', 'keys', 'create', '--label', 'Test GmbH, "R&D"'];
  const free = await assertEnds(labelled, 0, /free \(50 a day\)/, { env });
  assert.match(free.stdout, /^ssk_[\w-]{43}\n$/);
  assert.ok(free.stderr.includes(`Database: ${path.join(data.path, 'strata.db')}\n`));
  const { id, key, ...made } = await jsonOf('stack keys create --tier unlimited --json', { env });
  assert.partialDeepStrictEqual(made, { tier: 'unlimited', daily_limit: null, label: null, revoked_at: null });
  assert.match(key, /^ssk_/);

  await assertEnds(`stack keys revoke ${id}`, 0, /^$/, { env });
  const unknown = /^strata: no active key with the id 'key_\w+'\n$/;
  assert.equal((await assertEnds(`stack keys revoke ${id} --json`, 1, unknown, { env })).stdout, '');
  const { stdout: table } = await succeed('stack keys list', { env });
  assert.match(table, /free\s+50 a day\s+normal\s+\S+Z\s+active\s+Test GmbH, "R&D"/);
  assert.match(table, /unlimited\s+unlimited\s+normal\s+\S+Z\s+revoked/);
  const listed = await jsonOf('stack keys list --json', { env });
  assert.equal(listed.length, 2);
  assert.ok(listed[1].revoked_at);
  // A key is shown only once.
  assert.doesNotMatch(table + JSON.stringify(listed), /ssk_/);
});

it('strata inference keys creates keys with limits, a priority and a team, rotates them, and sets teams and prices', async () => {
  await using data = await temporaryDirectory();
  const env = { STRATA_DATA: data.path };
  await assertEnds('inference keys create --team t', 1, /no team 't'/, { env });
  const team = await succeed('inference teams set t --spend-limit 2.5/day --warn-at 2', { env });
  assert.match(team.stdout, /^t: spend 2.5\/day, warning at 2\n$/);
  const limits = '--models a,b --tokens-per-day 9 --spend-limit 0.000001/total --expires 2999-12-31';
  const { id, key } = await jsonOf(`inference keys create --json --team t ${limits}`, { env });
  const [listed] = await jsonOf('inference keys list --json', { env });
  const policy = { models: ['a', 'b'], tokensPerDay: 9, spend: { micros: 1, period: 'total' }, isAdmin: false };
  assert.deepEqual([listed.team, listed.policy], ['t', { ...policy, expiresAt: Date.UTC(3000, 0, 1) - 1 }]);
  const rotated = await jsonOf(`inference keys rotate ${id} --json`, { env });
  assert.ok(rotated.id === id && rotated.key !== key);
  await succeed('inference prices set m --input 0.15 --output 3', { env });
  await assertEnds('inference prices set m --input 1 --output 1000000.01', 2, /at most 1000000 /, { env });
  const price = { input: 150_000, cached: 150_000, output: 3_000_000 };
  assert.deepEqual(await jsonOf('inference prices list --json', { env }), { m: price });
  await succeed('inference prices remove m', { env });
  await assertEnds('inference prices remove m', 1, /'m' has no price/, { env });
  assert.match((await succeed('inference keys create --admin', { env })).stderr, /, an admin key: no quota/);
  assert.match((await succeed('inference keys list', { env })).stdout, /t +2999\S+ +0.0+1\/t.*– +none .* admin +–/s);
  for (const [args, priority] of Object.entries({ '': 'normal', ' --priority low': 'low' }))
    assert.equal((await jsonOf(`inference keys create --json${args}`, { env })).priority, priority);
  for (const [args, refused] of casesOf<[string, string][]>('cli', 'refused limits of keys'))
    await assertEnds(`inference ${args}`, 2, new RegExp(refused), { env });
});

it('strata stack keys rotates the signing keys', async () => {
  await using data = await temporaryDirectory();
  const rotate = (more = {}) =>
    assertEnds('stack keys rotate-signing --json', 0, /^$/, { env: { STRATA_DATA: data.path, ...more } });
  const [first, second] = [JSON.parse((await rotate()).stdout), JSON.parse((await rotate()).stdout)];
  assert.ok(first.receipt_key_id && first.ledger_key_id);
  for (const id of ['receipt_key_id', 'ledger_key_id']) assert.notEqual(first[id], second[id]);
  const isVouchedFor = (name: string) =>
    readFileSync(path.join(data.path, 'keys', name, 'signing-keys.json'), 'utf8').includes('rotation');
  assert.deepEqual(['receipts', 'ledger'].map(isVouchedFor), [false, true]);
  await rotate({ STRATA_DATABASE_URL: `sqlite:${path.join(data.path, 'x.db')}` });
});
