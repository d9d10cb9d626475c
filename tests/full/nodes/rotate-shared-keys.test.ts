// Signing keys of several nodes on one database.
import assert from 'node:assert/strict';
import { cp, readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { createLogger } from '@strata/http';
import { rotateSigningKeys, writeKeysFile } from '@strata/log';
import { readConfig, sharedLedgerOf, startStack } from '@strata/stack';
import { openStore } from '@strata/store';
import { postgresServer } from '../../../packages/store/src/test/places.ts';
import { binaries, notice } from '../../../packages/store/src/test/postgres.ts';
import { runStrata, temporaryDirectory } from '../../../services/cli/src/test/run-strata.ts';
import { openLedger } from '../../../services/stack/src/ledger.ts';
import { untilTrue } from '../../support/nodes.ts';

const rotateWith = (data: string, url: string) =>
  runStrata(['stack', 'keys', 'rotate-signing'], { env: { STRATA_DATA: data, STRATA_DATABASE_URL: url } });

describe('strata stack keys rotate-signing', () => {
  it('leaves a node with the old folder whole: what is read and copied there holds, and doctor tells which folder is old', {
    skip: binaries ? false : notice,
  }, async () => {
    await using one = await temporaryDirectory();
    await using two = await temporaryDirectory();
    const server = await postgresServer();
    const url = await server.fresh();
    const envOf = (data: string) => ({ STRATA_DATA: data, STRATA_DATABASE_URL: url, STRATA_ROLE: 'api' });
    const keysHere = async (data: string) => {
      const { stdout } = await runStrata(['doctor', '--service', 'stack', '--json'], { env: envOf(data) });
      const { findings } = JSON.parse(stdout) as { findings: { check: string; status: string; found: string }[] };
      const { status, found } = findings.find(({ check }) => check === 'signing keys (stack)') ?? {};
      return `${status}: ${found}`;
    };
    await using store = await openStore(url);
    const { ledgerOrigin: origin } = readConfig(envOf(one.path));
    const options = { dataDirectory: one.path, origin, now: () => new Date(), store };
    {
      await using ledger = await openLedger(options);
      await ledger.notary.sign({ said: 'before' });
    }
    assert.match(
      await keysHere(two.path),
      /^problem: .+ holds none, while the database holds the ledger of other nodes/,
    );
    const refused = await runStrata(['stack', 'keys', 'rotate-signing'], { env: envOf(two.path) });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /give every node the same keys folder/);
    assert.deepEqual(await readdir(two.path), []);
    await cp(path.join(one.path, 'keys'), path.join(two.path, 'keys'), { recursive: true });
    assert.match(await keysHere(two.path), /^ok: .+ and those of the ledger/);

    assert.equal((await rotateWith(one.path, url)).code, 0);
    {
      await using ledger = await openLedger(options);
      await ledger.notary.sign({ said: 'after' });
    }
    assert.match(await keysHere(two.path), /^problem: they were retired on .+ by a rotation on another node/);
    assert.match(await keysHere(one.path), /^ok: .+ 1 retired, and those of the ledger/);
    const checked = await runStrata(['stack', 'check-store'], { env: envOf(two.path) });
    assert.equal(checked.code, 0, checked.stdout + checked.stderr);
    assert.match(checked.stdout, /ledger of 2 leaves/);
    const set = path.join(two.path, 'set');
    for (const more of [[], ['--verify']]) {
      const { code, stderr } = await runStrata(['stack', 'backup', set, ...more], { env: envOf(two.path) });
      assert.equal(code, 0, stderr);
    }
    const withKeys = ['stack', 'backup', path.join(two.path, 'again'), '--keys', path.join(two.path, 'old.json')];
    const refusedKeys = await runStrata(withKeys, { env: envOf(two.path) });
    assert.equal(refusedKeys.code, 1);
    assert.match(refusedKeys.stderr, /were retired on .+ newest keys folder/);
    assert.ok(!(await readdir(two.path)).some((name) => /again|old/.test(name)), 'nothing is left of it');
    const logged = await rotateWith(two.path, url);
    assert.equal(logged.code, 1);
    assert.match(logged.stderr, /was retired on .+ newest keys folder/);

    // Its private keys would restore to a service that cannot sign: they are in no backup, and given all the same they are refused.
    const file = path.join(two.path, 'private.json');
    const kept = await runStrata(['stack', 'backup', `${set}-2`, '--keys', file], { env: envOf(two.path) });
    assert.equal(kept.code, 1);
    assert.match(kept.stderr, /the signing keys of receipts here were retired on .+ leave --keys out/);
    assert.deepEqual(
      (await readdir(two.path)).filter((name) => /^private|^set-2/.test(name)),
      [],
    );
    await writeKeysFile(two.path, file);
    await using empty = await temporaryDirectory();
    const env = { ...envOf(empty.path), STRATA_DATABASE_URL: await server.fresh() };
    const restored = await runStrata(['stack', 'restore', set, '--keys', file], { env });
    assert.equal(restored.code, 1);
    assert.match(restored.stderr, /the private key of receipts was retired on/);
    assert.equal((await runStrata(['stack', 'restore', set], { env })).code, 0, 'with new ones it goes on');

    // One ring of two is as good as none.
    await cp(path.join(one.path, 'keys/ledger'), path.join(two.path, 'keys/ledger'), { recursive: true });
    await assert.rejects(openLedger({ ...options, dataDirectory: two.path }), /receipt key .+ was retired on/);
    assert.match(await keysHere(two.path), /^problem: they were retired on .+ by a rotation on another node/);
    await cp(path.join(one.path, 'keys/receipts'), path.join(two.path, 'keys/receipts'), { recursive: true });
    assert.match(await keysHere(two.path), /^ok: /);
  });

  it('is told by a node that lacks the new keys: in its log, by its metrics, and by 503 once the old ones are of no use', {
    skip: binaries ? false : notice,
  }, async () => {
    await using one = await temporaryDirectory();
    await using two = await temporaryDirectory();
    const server = await postgresServer();
    const url = await server.fresh();
    const config = readConfig({
      ...{ STRATA_DATA: one.path, STRATA_DATABASE_URL: url, STRATA_ROLE: 'api' },
      ...{ STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0', STRATA_ADVISORIES: 'off', STRATA_FEEDS: 'off' },
    });
    const lines: { readonly level: number; readonly msg: string }[] = [];
    const logger = createLogger({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    await using node = await startStack(config, logger);
    await using store = await openStore(url);
    const { key } = await store.keys.create({ tier: 'unlimited' });
    let asked = 0;
    const ask = async () => {
      asked += 1;
      const path = `/stack/v1/search?q=${asked}`;
      return fetch(`http://127.0.0.1:${node.port}${path}`, { headers: { 'x-stack-key': key } });
    };
    const figure = async (name: string) => {
      const text = await (await fetch(`http://127.0.0.1:${node.metricsPort}/metrics`)).text();
      return new RegExp(`^${name} (\\d)$`, 'm').exec(text)?.[1];
    };
    const figures = () => Promise.all(['strata_signing_keys_retired', 'strata_ledger_refusing'].map(figure));
    const logged = (what: RegExp) => lines.filter(({ msg }) => what.test(msg));
    assert.equal((await ask()).status, 200);

    const give = (from: string, to: string) =>
      cp(path.join(from, 'keys'), path.join(to, 'keys'), { recursive: true, force: true });
    const rotated = (minutesAgo: number) =>
      rotateSigningKeys(two.path, () => new Date(Date.now() - minutesAgo * 60_000), {
        origin: config.ledgerOrigin,
        shared: sharedLedgerOf(store.ledger ?? assert.fail('no ledger')),
      });
    await give(one.path, two.path);
    await rotated(1);
    await untilTrue('a warning', async () => logged(/were rotated on another node/).length > 0);
    assert.equal((await ask()).status, 200);
    assert.deepEqual(await figures(), ['1', '0']);
    await give(two.path, one.path);
    await untilTrue('new keys', async () => logged(/new signing keys are taken up/).length > 0);
    assert.deepEqual(await figures(), ['0', '0']);

    await rotated(10);
    await untilTrue('a refusal', async () => (await ask()).status === 503);
    const refused = await Promise.all(Array.from({ length: 200 }, ask));
    assert.deepEqual([...new Set(refused.map(({ status }) => status))], [503]);
    assert.equal(refused[0]?.headers.get('retry-after'), '30');
    assert.deepEqual(await figures(), ['1', '1']);
    assert.ok(logged(/request failed|could not be signed/).length < 20, 'not a stack for each');
    assert.equal(logged(/were rotated on another node/).length, 2, 'once for each rotation');
    await give(two.path, one.path);
    await untilTrue('an answer', async () => (await ask()).status === 200);
    assert.deepEqual(await figures(), ['0', '0']);
  });
});
