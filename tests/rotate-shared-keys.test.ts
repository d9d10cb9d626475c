// Signing keys of several nodes on one database.
import assert from 'node:assert/strict';
import { cp, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from '@strata/stack';
import { openStore } from '@strata/store';
import { binaries, notice, startPostgres } from '../packages/store/src/test/postgres.ts';
import { runStrata, temporaryDirectory } from '../services/cli/src/test/run-strata.ts';
import { openLedger } from '../services/stack/src/ledger.ts';

const rotateWith = (data: string, url: string) =>
  runStrata(['stack', 'keys', 'rotate-signing'], { env: { STRATA_DATA: data, STRATA_DATABASE_URL: url } });

describe('strata stack keys rotate-signing', () => {
  it('rotates the keys of several nodes by the clock of their database, and says what is to be done', {
    skip: binaries ? false : notice,
  }, async () => {
    await using data = await temporaryDirectory();
    await using server = await startPostgres();
    const told = await rotateWith(data.path, await server.fresh());
    assert.equal(told.code, 0, told.stderr);
    const keys = path.join(data.path, 'keys');
    assert.ok(told.stderr.includes(`copy ${keys} to each of them by then`), told.stderr);
    const before = await readFile(path.join(keys, 'receipts/signing-keys.json'), 'utf8');
    const away = await rotateWith(data.path, 'postgres://strata:secret@127.0.0.1:1/strata');
    assert.equal(away.code, 1);
    assert.doesNotMatch(away.stderr, /secret|\n +at /);
    assert.equal(await readFile(path.join(keys, 'receipts/signing-keys.json'), 'utf8'), before, 'nothing was rotated');
  });

  it('leaves a node with the old folder whole: what is read and copied there holds, and doctor tells which folder is old', {
    skip: binaries ? false : notice,
  }, async () => {
    await using one = await temporaryDirectory();
    await using two = await temporaryDirectory();
    await using server = await startPostgres();
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
    const told = await rotateWith(two.path, url);
    assert.equal(told.code, 1);
    assert.match(told.stderr, /was retired on .+ newest keys folder/);
    // One ring of two is as good as none.
    await cp(path.join(one.path, 'keys/ledger'), path.join(two.path, 'keys/ledger'), { recursive: true });
    await assert.rejects(openLedger({ ...options, dataDirectory: two.path }), /receipt key .+ was retired on/);
    assert.match(await keysHere(two.path), /^problem: they were retired on .+ by a rotation on another node/);
    await cp(path.join(one.path, 'keys/receipts'), path.join(two.path, 'keys/receipts'), { recursive: true });
    assert.match(await keysHere(two.path), /^ok: /);
  });
});
