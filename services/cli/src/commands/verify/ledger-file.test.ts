// `verify` stores ledgers: it detects a fork on the second run, and concurrent processes keep the file consistent.
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { fakeService, temporaryDirectory } from '../../../../../tests/support/index.ts';
import { ANSWER_PATH, type LedgerState, ledgerService } from '../../../../../tests/support/ledger-service.ts';
import { assertEnds, spawnStrata } from '../../test/run-strata.ts';
import { ledgerFileOf } from './ledger-file.ts';

async function startService(begin: LedgerState) {
  await using stack = new AsyncDisposableStack();
  const state = stack.use(await temporaryDirectory()).path;
  const service = await ledgerService(begin);
  const { base } = stack.use(
    await fakeService(async (request, response) => response.end(await service.page(request.url ?? ''))),
  );
  const env = { XDG_STATE_HOME: state };
  const args = ['stack', 'verify', base + ANSWER_PATH];
  const file = ledgerFileOf({ env });
  return Object.assign(stack.move(), {
    ...{ ...service, env, args, file, state },
    verify: (code = 0, words = /^$/, ...more: string[]) => assertEnds([...args, ...more], code, words, { env }),
    size: () => Number(JSON.parse(readFileSync(file, 'utf8'))[0].checkpoint.split('\n')[1]),
  });
}

it('strata stack verify, run again reports a fork with exit code 5 and what to do, and starts over only with --forget-ledger', async () => {
  await using at = await startService({ size: 5 });
  assert.match((await at.verify()).stdout, /^ok +consistency First check of this ledger:/m);
  assert.deepEqual([at.size(), statSync(at.file).mode & 0o777], [5, 0o600]);
  await at.become({ size: 9 });
  assert.match((await at.verify()).stdout, /^ok +consistency The ledger of 9 leaves is consistent with the 5 /m);
  await at.become({ size: 12, forkedAt: 7 });
  const words = /^strata: the ledger conflicts with the known one \(fork\); .+ledgers\.json.+--forget-ledger.*\n$/;
  const { stdout } = await at.verify(5, words);
  assert.match(stdout, /^ok +checkpoint .+\nFAILED consistency Fork: the ledger of 12 leaves .+ the 9 known leaves/m);
  assert.equal(JSON.parse((await at.verify(5, words, '--json')).stdout).conflict.kind, 'fork');
  assert.equal(at.size(), 9);
  await at.verify(0, /^$/, '--forget-ledger');
  assert.equal(at.size(), 12);
});

it('strata stack verify, run again compares with a given checkpoint, and explains a rollback by a restored backup', async () => {
  await using at = await startService({ size: 8 });
  const given = path.join(at.state, 'checkpoint');
  writeFileSync(given, (await at.page('/ledger/checkpoint')) ?? '');
  await at.become({ size: 6 });
  await at.verify(5, /\(rollback\); .+restored from an old backup; .+"Restore"/, '--ledger-checkpoint', given);
  writeFileSync(given, 'no checkpoint');
  await at.verify(2, /checkpoint' is not a checkpoint/, '--ledger-checkpoint', given);
});

it('strata stack verify, run again stores for concurrent processes; refuses a damaged file, and warns where it cannot write', async () => {
  await using at = await startService({ size: 300 });
  const runs = await Promise.all([1, 2].map(() => spawnStrata(at.args, { env: at.env })));
  for (const { code, stderr } of runs) assert.deepEqual([code, stderr, at.size()], [0, '', 300]);
  for (const text of ['{', '[{}]', '']) {
    writeFileSync(at.file, text);
    await at.verify(5, /repair .+ledgers\.json, or start over with --forget-ledger/);
    assert.equal(readFileSync(at.file, 'utf8'), text);
  }
  await at.verify(0, /^$/, '--forget-ledger');
  // A folder that cannot be created; a relative XDG_STATE_HOME is ignored.
  const env = { XDG_STATE_HOME: 'relative', HOME: at.file };
  assert.equal(ledgerFileOf({ env }), path.join(at.file, '.local/state/strata/ledgers.json'));
  await assertEnds(at.args, 0, /^strata: cannot write .+\(ENOTDIR\); .+\n$/, { env });
});
