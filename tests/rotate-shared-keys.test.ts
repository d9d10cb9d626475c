// Signing keys of several nodes on one database.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { binaries, notice, startPostgres } from '../packages/store/src/test/postgres.ts';
import { runStrata, temporaryDirectory } from '../services/cli/src/test/run-strata.ts';

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
    const copy = `other nodes of this database cannot sign until they have these keys: copy ${keys} to each`;
    assert.ok(told.stderr.startsWith(copy), told.stderr);
    const before = await readFile(path.join(keys, 'receipts/signing-keys.json'), 'utf8');
    const away = await rotateWith(data.path, 'postgres://strata:secret@127.0.0.1:1/strata');
    assert.equal(away.code, 1);
    assert.doesNotMatch(away.stderr, /secret|\n +at /);
    assert.equal(await readFile(path.join(keys, 'receipts/signing-keys.json'), 'utf8'), before, 'nothing was rotated');
  });
});
