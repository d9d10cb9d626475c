// Commands that root runs in the data directory of a service's user.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, linkSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { runStrata, temporaryDirectory } from './test/run-strata.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** Everything below the directory that is not of this user. */
const ownedByOthers = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
    (name) => statSync(path.join(directory, name)).uid !== NOBODY,
  );

describe('a command that root runs', { skip: isRoot ? false : 'only root writes for somebody else' }, () => {
  it('leaves what it writes to the owner of the data directory', async () => {
    await using data = await temporaryDirectory();
    await using elsewhere = await temporaryDirectory();
    chownSync(data.path, NOBODY, NOBODY);
    const strata = async (...args: string[]) => {
      const { code, stderr } = await runStrata(args, { env: { STRATA_DATA: data.path } });
      assert.equal(code, 0, stderr);
    };
    const backup = path.join(elsewhere.path, 'backup');
    await strata('stack', 'keys', 'create');
    assert.deepEqual(ownedByOthers(data.path), []);
    await strata('stack', 'keys', 'rotate-signing');
    await strata('inference', 'keys', 'rotate-signing');
    assert.deepEqual(ownedByOthers(data.path), []);
    assert.equal(statSync(path.join(data.path, 'keys/ledger/signing-keys.json')).mode & 0o777, 0o600);
    await strata('stack', 'backup', backup);
    await strata('stack', 'restore', backup, '--replace');
    assert.ok(readdirSync(data.path).some((name) => name.includes('.replaced-')));
    assert.deepEqual(ownedByOthers(data.path), []);
    assert.equal(statSync(backup).uid, 0, 'what is elsewhere stays as it was made');
  });

  it('gives away nothing that root had there before, nor what a link leads to', async () => {
    await using data = await temporaryDirectory();
    await using elsewhere = await temporaryDirectory();
    chownSync(data.path, NOBODY, NOBODY);
    const [before, secret] = [path.join(data.path, 'before'), path.join(elsewhere.path, 'secret')];
    for (const file of [before, secret]) writeFileSync(file, '');
    linkSync(secret, path.join(data.path, 'link'));
    symlinkSync(elsewhere.path, path.join(data.path, 'folder'));
    const { code, stderr } = await runStrata(['stack', 'keys', 'create'], { env: { STRATA_DATA: data.path } });
    assert.equal(code, 0, stderr);
    assert.deepEqual([statSync(before).uid, statSync(secret).uid], [0, 0]);
    assert.equal(statSync(path.join(data.path, 'strata.db')).uid, NOBODY);
  });

  it('and one of the user, says whose a file is that it may not use', async (test) => {
    if (spawnSync(process.execPath, ['--version'], { uid: NOBODY }).error)
      return test.skip('nobody else may run what is here');
    await using data = await temporaryDirectory();
    chownSync(data.path, NOBODY, NOBODY);
    chmodSync(data.path, 0o700);
    const rotate = (more: object) =>
      runStrata(['stack', 'keys', 'rotate-signing'], { env: { STRATA_DATA: data.path }, ...more });
    await rotate({});
    const file = path.join(data.path, 'keys/receipts/signing-keys.json');
    chownSync(file, 0, 0);
    const { code, stderr } = await rotate({ uid: NOBODY });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^strata: .+receipts\/signing-keys\.json belongs to user 0 \(root\) with mode 0600, and this process is of user 65534; give it to the user of the service \(chown\)/,
    );
  });
});
