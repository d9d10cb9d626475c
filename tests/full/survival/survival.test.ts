// A short round of `npm run test:survival`: each of these faults once.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { binaries, notice } from '../../support/database/postgres.ts';
import { networkGroup } from '../../survival/network.ts';
import { type Group, type Load, runGroup, tableOf } from '../../survival/scenario.ts';
import { severalProcesses } from '../../survival/several-processes.ts';
import { singleProcess } from '../../survival/single-process.ts';

const FAULTS = /any moment|container|back by two|any process|both API|past its lease|30 hours|while it streams/;
const limit = { timeout: 900_000 };

async function assertSurvives<Target extends AsyncDisposable, L extends Load>(group: Group<Target, L>): Promise<void> {
  const only = (fault: string) => FAULTS.test(fault);
  const rows = await runGroup(group, { only, maxTimes: 1, until: Number.POSITIVE_INFINITY });
  console.log(tableOf(rows));
  for (const { fault, findings } of rows) assert.deepEqual(findings, [], fault);
}

it('services at work survive as one process on SQLite', limit, () => assertSurvives(singleProcess));
it('services at work survive in roles on PostgreSQL', { ...limit, skip: binaries ? false : notice }, () =>
  assertSurvives(severalProcesses),
);
it('services at work survive as a gateway with its streams', limit, () => assertSurvives(networkGroup));
