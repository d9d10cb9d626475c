// A log in a database does what one on disk does. Two processes write one while one of them is killed again and again:
// every acknowledged leaf is there, once, and all that was ever served lies on one line.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkLog } from '@strata/log';
import { consistencyProof, equalBytes, leafHash, verifyConsistency } from '@strata/receipts';
import { type LogBackend, logConformance } from '../../../packages/log/src/test/conformance.ts';
import { headOf, idOf, keysOf, leafOf, ORIGIN, tilesServedBy } from '../../../packages/log/src/test/fixture.ts';
import { publicLogConformance } from '../../../packages/log/src/test/public-log.ts';
import { postgres } from '../../../services/stack/src/store/test/backends.ts';
import { openNode, openShared } from '../../support/shared-log/database.ts';
import { repeatDuring } from '../../support/until.ts';

const inDatabase: LogBackend = {
  ...{ name: 'in a database', skip: postgres.skip },
  async fresh() {
    const url = await postgres.fresh();
    return { open: () => openNode(url), [Symbol.asyncDispose]: async () => {} };
  },
};
logConformance(inDatabase);
publicLogConformance(inDatabase);

const LEAVES = 3_000;
/** Far apart, so that numbers of leaves that were written and never acknowledged are not used again. */
const RANGE = 1_000_000;

/** What nodes report; acknowledgements are indexes by number. */
interface Reported {
  readonly acks: Map<number, number>;
  readonly checkpoints: Set<string>;
}

interface RunOptions {
  readonly first: number;
  readonly count: number;
  readonly killAfter?: number;
}

/** Starts a node; it ends by itself after `count`, or is killed after so many acknowledgements. */
async function run(url: string, reported: Reported, { first, count, killAfter }: RunOptions) {
  const script = path.join(import.meta.dirname, '../../support/shared-log/node-process.ts');
  const child: ChildProcess = spawn(process.execPath, [script, url, String(first), String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  let acks = 0;
  for await (const line of createInterface({ input: child.stdout ?? assert.fail() })) {
    const [kind, one = '', two] = line.split(' ');
    if (kind === 'checkpoint') reported.checkpoints.add(Buffer.from(one, 'base64').toString());
    if (kind !== 'ack' || two === undefined) continue;
    reported.acks.set(Number(one), Number(two));
    acks += 1;
    if (acks === killAfter) child.kill('SIGKILL');
  }
  const [code, signal] = await exit;
  assert.ok(signal === 'SIGKILL' || code === 0, `a node ended with ${code}`);
  return { acks, isKilled: signal === 'SIGKILL' };
}

/** Starts nodes until so many leaves are acknowledged; all but the last are killed. */
async function runAndKill(url: string, reported: Reported): Promise<number> {
  let kills = 0;
  for (let acks = 0, life = 1; acks < LEAVES; life += 1) {
    const ended = await run(url, reported, {
      ...{ first: life * RANGE, count: LEAVES - acks, killAfter: 1 + ((life * 7_919) % 900) },
    });
    acks += ended.acks;
    if (ended.isKilled) kills += 1;
  }
  return kills;
}

describe('a log that two processes write', { skip: postgres.skip }, () => {
  it('keeps every acknowledged leaf once, and one history, while one of them is killed', async (t) => {
    const url = await postgres.fresh();
    const reported: Reported = { acks: new Map(), checkpoints: new Set() };
    await using reader = await openNode(url);
    const writing = Promise.all([runAndKill(url, reported), run(url, reported, { first: 0, count: LEAVES })]);
    const [kills] = await repeatDuring(writing, () => delay(10, reported.checkpoints.add(reader.checkpoint())));
    assert.equal(reported.acks.size, 2 * LEAVES);
    assert.ok(kills >= 4, `${kills} kills`);

    await using shared = await openShared(url);
    const report = await checkLog({ origin: ORIGIN, keys: keysOf(2), table: shared.log });
    assert.ok(report.size >= 2 * LEAVES);
    await using last = await openNode(url);
    const head = await headOf(last.checkpoint());
    assert.deepEqual([head.size, Buffer.from(head.root)], [report.size, Buffer.from(report.root)]);

    const read = tilesServedBy(last);
    for (const [number, index] of reported.acks) {
      assert.ok(equalBytes(await read(0, index), leafHash(leafOf(number))), `leaf ${number} is not at ${index}`);
      if (number % 250 === 0) assert.equal((await last.receipt(idOf(leafOf(number))))?.index, index);
    }
    const texts = new Set<string>();
    for (let from = 0; from < report.size; from += 1_000) {
      for (const leaf of await shared.log.leaves(from, 1_000)) texts.add(Buffer.from(leaf).toString());
    }
    assert.equal(texts.size, report.size, 'no leaf stands twice');

    for (const checkpoint of reported.checkpoints) {
      const { size: oldSize, root: oldRoot } = await headOf(checkpoint);
      const proof = await consistencyProof(read, oldSize, head.size);
      assert.ok(verifyConsistency({ oldSize, oldRoot, newSize: head.size, newRoot: head.root, proof }), `${oldSize}`);
    }
    t.diagnostic(`${kills} kills, ${reported.checkpoints.size} checkpoints, ${report.size} leaves`);
  });
});
