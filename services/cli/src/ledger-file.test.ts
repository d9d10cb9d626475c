// `verify` remembers: a fork is shown on the second run, and what is remembered survives processes that run at once.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fakeService } from '../../../tests/support/fake-service.ts';
import { ANSWER_PATH, type LedgerState, ledgerService } from '../../../tests/support/ledger-service.ts';
import { temporaryDirectory } from '../../../tests/support/temporary-directory.ts';
import { ledgerFileOf } from './ledger-file.ts';
import { assertEnds, OTHER_UID, otherUserSkip, spawnStrata } from './test/run-strata.ts';

async function place(begin: LedgerState) {
  await using stack = new AsyncDisposableStack();
  const state = stack.use(await temporaryDirectory()).path;
  const service = await ledgerService(begin);
  const { base } = stack.use(
    await fakeService(async (request, response) => {
      const { status, content } = await service.answer(request.url ?? '');
      response.writeHead(status).end(content);
    }),
  );
  const env = { XDG_STATE_HOME: state };
  const args = (...more: readonly string[]) => ['stack', 'verify', base + ANSWER_PATH, ...more];
  const verify = (code = 0, words = /^$/, ...more: readonly string[]) =>
    assertEnds(args(...more), code, words, { env });
  const file = ledgerFileOf({ env });
  const sizes = () =>
    (JSON.parse(readFileSync(file, 'utf8')) as { checkpoint: string }[]).map(({ checkpoint }) =>
      Number(checkpoint.split('\n')[1]),
    );
  return Object.assign(stack.move(), { ...service, env, args, verify, file, sizes });
}

describe('strata stack verify, run again', () => {
  it('shows a fork with exit code 5, says what to do, and begins anew only when it is told to', async () => {
    await using at = await place({ size: 5 });
    assert.match((await at.verify()).stdout, /^ok +consistency First check of this ledger here/m);
    assert.deepEqual([at.sizes(), statSync(at.file).mode & 0o777], [[5], 0o600]);
    await at.become({ size: 9 });
    assert.match((await at.verify()).stdout, /^ok +consistency The ledger of 9 leaves goes on from the 5 /m);
    await at.become({ size: 12, forkedAt: 7 });
    const words = /^strata: the ledger is not the one that is known \(fork\): .+ledgers\.json.+--forget-ledger.*\n$/;
    const { stdout } = await at.verify(5, words);
    assert.match(stdout, /^ok +checkpoint .+\nFAILED consistency Fork: the ledger of 12 leaves .+ the 9 leaves/m);
    const { conflict } = JSON.parse((await at.verify(5, words, '--json')).stdout);
    assert.deepEqual(
      [conflict.kind, conflict.known.split('\n')[1], conflict.shown.split('\n')[1]],
      ['fork', '9', '12'],
    );
    assert.deepEqual(at.sizes(), [9]);
    await at.verify(0, /^$/, '--forget-ledger');
    assert.deepEqual(at.sizes(), [12]);
  });

  it('says of a rollback that a backup may have been restored, and compares with a checkpoint that is given', async () => {
    await using at = await place({ size: 8 });
    const given = path.join(at.env.XDG_STATE_HOME, 'checkpoint');
    writeFileSync(given, (await at.answer('/ledger/checkpoint')).content);
    await at.become({ size: 6 });
    await at.verify(5, /\(rollback\): .+restored from an old backup\? .+"Restore"/, '--ledger-checkpoint', given);
    assert.ok(!existsSync(at.file));
    writeFileSync(given, 'no checkpoint');
    await at.verify(2, /checkpoint' holds no checkpoint/, '--ledger-checkpoint', given);
  });

  it('remembers for processes that run at once, in a file that is never half written', async () => {
    await using at = await place({ size: 300 });
    const runs = await Promise.all(Array.from({ length: 4 }, () => spawnStrata(at.args(), { env: at.env })));
    assert.deepEqual(
      runs.map(({ code, stderr }) => `${code} ${stderr}`),
      Array(4).fill('0 '),
    );
    assert.deepEqual(at.sizes(), [300]);
  });

  it('refuses a file that is damaged, and warns where it can keep none', async (t) => {
    await using at = await place({ size: 5 });
    await at.verify();
    for (const text of ['{', '[{}]', '']) {
      writeFileSync(at.file, text);
      await at.verify(5, /repair .+ledgers\.json, or begin anew with --forget-ledger/);
      assert.equal(readFileSync(at.file, 'utf8'), text);
    }
    await at.verify(0, /^$/, '--forget-ledger');
    if (otherUserSkip()) return t.skip('only root can be another user');
    const closed = path.join(at.env.XDG_STATE_HOME, 'closed');
    mkdirSync(closed);
    chmodSync(at.env.XDG_STATE_HOME, 0o755);
    const { code, stderr } = await spawnStrata(at.args(), { env: { XDG_STATE_HOME: closed }, uid: OTHER_UID });
    assert.match(
      `${code} ${stderr}`,
      /^0 strata: what was verified cannot be remembered, .+ledgers\.json \(EACCES\)\n$/,
    );
  });

  it('keeps the file where the user keeps state', () => {
    const at = (env: Record<string, string>) => ledgerFileOf({ env });
    assert.equal(at({ XDG_STATE_HOME: '/state', HOME: '/home/a' }), '/state/strata/ledgers.json');
    for (const XDG_STATE_HOME of ['', 'relative'])
      assert.equal(at({ XDG_STATE_HOME, HOME: '/home/a' }), '/home/a/.local/state/strata/ledgers.json');
  });
});
