// Signing keys of several nodes on one database.
import assert from 'node:assert/strict';
import { cp, readdir } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { writeKeysFile } from '@strata/log';
import { readConfig } from '@strata/stack';
import { openStore } from '@strata/stack/store';
import { openLedger } from '../../../services/stack/src/ledger/ledger.ts';
import { postgres } from '../../../services/stack/src/store/test/backends.ts';
import { doctorOnKeys, fails, succeeds } from '../../support/strata-stack.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ROTATE = ['keys', 'rotate-signing'];

it('strata stack keys rotate-signing leaves a node with the old folder intact: its reads and copies verify, and doctor names the old folder', {
  skip: postgres.skip,
}, async () => {
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
