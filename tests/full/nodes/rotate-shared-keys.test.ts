// Signing keys of several nodes on one database.
import assert from 'node:assert/strict';
import { cp, readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { createLogger } from '@strata/http';
import { rotateSigningKeys, writeKeysFile } from '@strata/log';
import { readConfig, startStack } from '@strata/stack';
import { openStore } from '@strata/stack/store';
import { openLedger } from '../../../services/stack/src/ledger/ledger.ts';
import { postgres } from '../../../services/stack/src/store/test/backends.ts';
import { doctorOnKeys, fails, succeeds } from '../../support/strata-stack.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';

const untilSo = (what: string, holds: () => Promise<boolean>) => until(holds, { what, limitMs: 300_000 });
const ROTATE = ['keys', 'rotate-signing'];

describe('strata stack keys rotate-signing', { skip: postgres.skip }, () => {
  it('leaves a node with the old folder intact: its reads and copies verify, and doctor names the old folder', async () => {
    await using one = await temporaryDirectory();
    await using two = await temporaryDirectory();
    const url = await postgres.fresh();
    const envOf = (data: string) => ({ STRATA_DATA: data, STRATA_DATABASE_URL: url, STRATA_ROLE: 'api' });
    const keysHere = (data: string) => doctorOnKeys(envOf(data));
    await using store = await openStore(url);
    const { ledgerOrigin: origin } = readConfig(envOf(one.path));
    const options = { dataDirectory: one.path, origin, now: () => new Date(), store };
    {
      await using ledger = await openLedger(options);
      await ledger.notary.sign({ text: 'before' });
    }
    const lacks = /^problem: .+ has no keys, but the database has the ledger of other nodes/;
    assert.match(await keysHere(two.path), lacks);
    assert.match(await fails(ROTATE, envOf(two.path)), /give every node the same keys folder/);
    assert.deepEqual(await readdir(two.path), []);
    await cp(path.join(one.path, 'keys'), path.join(two.path, 'keys'), { recursive: true });
    assert.match(await keysHere(two.path), /^ok: .+ match the ledger/);

    await succeeds(ROTATE, envOf(one.path));
    {
      await using ledger = await openLedger(options);
      await ledger.notary.sign({ text: 'after' });
    }
    assert.match(await keysHere(two.path), /^problem: retired on .+ by a rotation on another node/);
    assert.match(await keysHere(one.path), /^ok: .+ 1 retired, match the ledger/);
    assert.match(await succeeds(['check-store'], envOf(two.path)), /ledger of 2 leaves/);
    const set = path.join(two.path, 'set');
    for (const more of [[], ['--verify']]) await succeeds(['backup', set, ...more], envOf(two.path));
    // The key that the other folder has vouches for the one that signs now.
    await succeeds(['backup', `${set}-new`], envOf(one.path));
    await succeeds(['backup', '--verify', `${set}-new`], envOf(two.path));
    assert.match(await fails(ROTATE, envOf(two.path)), /was retired on .+ newest keys folder/);

    // Its private keys would restore to a service that cannot sign: they are in no backup, and given all the same they are refused.
    const file = path.join(two.path, 'private.json');
    const kept = await fails(['backup', `${set}-2`, '--keys', file], envOf(two.path));
    assert.match(kept, /the signing keys of receipts here were retired on .+ newest keys folder.+ without --keys/);
    assert.ok(!(await readdir(two.path)).some((name) => /^private|^set-2/.test(name)), 'nothing is left of it');
    await writeKeysFile(two.path, file);
    await using empty = await temporaryDirectory();
    const env = { ...envOf(empty.path), STRATA_DATABASE_URL: await postgres.empty() };
    assert.match(await fails(['restore', set, '--keys', file], env), /the private key of receipts was retired on/);
    await succeeds(['restore', set, '--unverified'], env);

    // One ring of two is as good as none.
    await cp(path.join(one.path, 'keys/ledger'), path.join(two.path, 'keys/ledger'), { recursive: true });
    await assert.rejects(openLedger({ ...options, dataDirectory: two.path }), /receipt key .+ was retired on/);
    assert.match(await keysHere(two.path), /^problem: retired on .+ by a rotation on another node/);
    await cp(path.join(one.path, 'keys/receipts'), path.join(two.path, 'keys/receipts'), { recursive: true });
    assert.match(await keysHere(two.path), /^ok: /);
  });

  it('is reported by a node without the new keys: in its log, its metrics, and by 503', async () => {
    await using one = await temporaryDirectory();
    await using two = await temporaryDirectory();
    const url = await postgres.fresh();
    const config = readConfig({
      ...{ STRATA_DATA: one.path, STRATA_DATABASE_URL: url, STRATA_ROLE: 'api' },
      ...{ STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0', STRATA_ADVISORIES: 'off', STRATA_FEEDS: 'off' },
    });
    const lines: string[] = [];
    const logger = createLogger({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
    await using node = await startStack(config, logger);
    await using store = await openStore(url);
    const { key } = await store.keys.create({ tier: 'unlimited' });
    const ask = () =>
      fetch(`http://127.0.0.1:${node.port}/stack/v1/search?q=${Math.random()}`, { headers: { 'x-stack-key': key } });
    const figure = async (name: string) => {
      const text = await (await fetch(`http://127.0.0.1:${node.metricsPort}/metrics`)).text();
      return new RegExp(`^${name} (\\d)$`, 'm').exec(text)?.[1];
    };
    const figures = () => Promise.all(['strata_signing_keys_retired', 'strata_ledger_refusing'].map(figure));
    const logged = (what: RegExp) => lines.filter((line) => what.test(line));
    assert.equal((await ask()).status, 200);

    const give = (from: string, to: string) =>
      cp(path.join(from, 'keys'), path.join(to, 'keys'), { recursive: true, force: true });
    const rotated = (minutesAgo: number) =>
      rotateSigningKeys(two.path, () => new Date(Date.now() - minutesAgo * 60_000), {
        origin: config.ledgerOrigin,
        shared: store.ledger ?? assert.fail('no ledger'),
      });
    await give(one.path, two.path);
    await rotated(1);
    await untilSo('a warning', async () => logged(/were rotated on another node/).length > 0);
    assert.equal((await ask()).status, 200);
    assert.deepEqual(await figures(), ['1', '0']);
    await give(two.path, one.path);
    await untilSo('new keys', async () => logged(/new signing keys are in use/).length > 0);
    assert.deepEqual(await figures(), ['0', '0']);

    await rotated(10);
    await untilSo('a refusal', async () => (await ask()).status === 503);
    const refused = await Promise.all(Array.from({ length: 200 }, ask));
    assert.deepEqual([...new Set(refused.map(({ status }) => status))], [503]);
    assert.equal(refused[0]?.headers.get('retry-after'), '30');
    assert.deepEqual(await figures(), ['1', '1']);
    assert.ok(logged(/request failed|could not be signed/).length < 20, 'not a stack for each');
    assert.equal(logged(/were rotated on another node/).length, 2, 'once for each rotation');
    await give(two.path, one.path);
    await untilSo('an answer', async () => (await ask()).status === 200);
    assert.deepEqual(await figures(), ['0', '0']);
  });
});
