// The guarantee behind every receipt: killed at any moment, the log has every leaf that was acknowledged.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { consistencyProof, equalBytes, leafHash, verifyConsistency, verifyInclusion } from '@strata/receipts';
import { headOf, idOf, leafOf, tilesServedBy } from '../test/fixture.ts';
import { checked, inDirectory, openIn } from '../test/log-on-disk.ts';

const KILLS = 20;

/** Lets a child append for a moment after its first acknowledgement, kills it, and returns what it reported. */
async function appendUntilKilled(directory: string, firstNumber: number, lifeMs: number) {
  const args = [path.join(import.meta.dirname, '../test/append.ts'), 'killed', directory, String(firstNumber)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').once('data', () => setTimeout(() => child.kill('SIGKILL'), lifeMs));
  child.stdout.on('data', (text: string) => (output += text));
  assert.deepEqual(await once(child, 'close'), [null, 'SIGKILL']);
  const acks = new Map<number, number>();
  const checkpoints: string[] = [];
  // The last line may be cut off: it does not end in a newline.
  for (const line of output.slice(0, output.lastIndexOf('\n')).split('\n')) {
    const [kind, one = '', two] = line.split(' ');
    if (kind === 'ack') acks.set(Number(one), Number(two));
    else checkpoints.push(Buffer.from(one, 'base64').toString());
  }
  return { acks, checkpoints };
}

inDirectory(`keeps every acknowledged leaf and checkpoint through ${KILLS} kills`, async (directory, t) => {
  const acks = new Map<number, number>();
  let checkpoints: string[] = [];
  let size = 0;
  for (let round = 0; round < KILLS; round++) {
    // Far apart, so that numbers of leaves that were written and never acknowledged are not used again.
    // Half of them when a thread runs the transactions, which it does after half a second.
    const run = await appendUntilKilled(directory, round * 1_000_000, round % 2 === 0 ? 4 + 2 * round : 1_000 + round);
    assert.ok(run.acks.size > 0);
    for (const [number, index] of run.acks) acks.set(number, index);
    checkpoints = [...checkpoints.slice(-3), ...run.checkpoints.slice(-3)];

    assert.ok((await checked(directory)) >= size + run.acks.size, 'the log shrank');
    await using log = await openIn(directory);
    size = log.size;
    const { root } = await headOf(log.checkpoint());
    const read = tilesServedBy(log);
    for (const old of checkpoints) {
      const { size: oldSize, root: oldRoot } = await headOf(old);
      assert.ok(oldSize <= size, 'the log is below a checkpoint that was served');
      const proof = await consistencyProof(read, oldSize, size);
      assert.ok(verifyConsistency({ oldSize, oldRoot, newSize: size, newRoot: root, proof }));
    }
    // All of this run and a sample of earlier ones by id, every index by the hash at it.
    for (const [at, [number, index]] of [...acks].entries()) {
      if (at % (run.acks.has(number) ? 20 : 500) !== 0) continue;
      const leaf = leafOf(number);
      const receipt = (await log.receipt(idOf(leaf))) ?? assert.fail(`leaf ${number} was acknowledged and is lost`);
      assert.equal(receipt.index, index);
      const proof = receipt.proof.map((hash) => new Uint8Array(Buffer.from(hash, 'base64')));
      assert.ok(verifyInclusion({ leafHash: leafHash(leaf), index, size: receipt.tree_size, proof, root }));
    }
    for (const [number, index] of run.acks)
      assert.ok(equalBytes(await read(0, index), leafHash(leafOf(number))), `leaf ${number} is not at ${index}`);
  }
  t.diagnostic(`${acks.size} acknowledged leaves in ${KILLS} runs, log of ${size}`);
});
