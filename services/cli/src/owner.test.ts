// Commands that root runs in the data directory of a service's user; process.full.test.ts has those of another user.
import assert from 'node:assert/strict';
import { chownSync, linkSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { OTHER_UID as NOBODY, succeed, temporaryDirectory } from './test/run-strata.ts';

const skip = process.getuid?.() === 0 ? false : 'only root writes for other users';

describe('a command that root runs', { skip }, () => {
  it('leaves what it writes to the owner of the data directory, but nothing that a link leads to', async () => {
    await using data = await temporaryDirectory();
    await using elsewhere = await temporaryDirectory();
    const ownedByOthers = () =>
      readdirSync(data.path, { recursive: true, encoding: 'utf8' }).filter(
        (name) => statSync(path.join(data.path, name)).uid !== NOBODY,
      );
    chownSync(data.path, NOBODY, NOBODY);
    const strata = (args: string) => succeed(args, { env: { STRATA_DATA: data.path } });
    const backup = path.join(elsewhere.path, 'backup');
    await strata('stack keys create');
    assert.deepEqual(ownedByOthers(), []);
    await strata('stack keys rotate-signing');
    await strata('inference keys rotate-signing');
    assert.deepEqual(ownedByOthers(), []);
    assert.equal(statSync(path.join(data.path, 'keys/ledger/signing-keys.json')).mode & 0o777, 0o600);
    await strata(`stack backup ${backup}`);
    await strata(`stack restore ${backup} --replace`);
    assert.ok(readdirSync(data.path).some((name) => name.includes('.replaced-')));
    assert.deepEqual(ownedByOthers(), []);
    assert.equal(statSync(backup).uid, 0, 'what is elsewhere stays as it was made');

    const secret = path.join(elsewhere.path, 'secret');
    writeFileSync(secret, '');
    linkSync(secret, path.join(data.path, 'link'));
    symlinkSync(elsewhere.path, path.join(data.path, 'folder'));
    await strata('stack keys create');
    assert.equal(statSync(secret).uid, 0);
  });
});
