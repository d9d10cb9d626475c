// Processes that download the same model, are killed, or may not write: there is one download, and one complete file.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { fakeModel, stall } from '../test/fake-hub.ts';
import { failsWith, REFERENCE, Scene } from '../test/scene.ts';

const bytes = fakeModel(100_000);
const program = path.join(import.meta.dirname, '../test/pull-process.ts');

/** Size of a file that has stopped growing. */
async function grown(file: string): Promise<number> {
  for (let before = -1; ; await sleep(50)) {
    const size = (await stat(file).catch(() => undefined))?.size ?? 0;
    if (size > 0 && size === before) return size;
    before = size;
  }
}

it('processes that download one model refuse a second one, and take over from one that is killed', async () => {
  await using scene = await Scene.withModel(bytes);
  scene.hub.faults.push(stall(60_000));
  const args = [program, REFERENCE, JSON.stringify(scene.options({ idleTimeoutMs: 20_000 }))];
  const first = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const size = await grown(scene.at('o/r/m.gguf.part'));
  await assert.rejects(scene.pull(REFERENCE), failsWith('busy'));
  first.kill('SIGKILL');
  await once(first, 'exit');
  await scene.pull(REFERENCE);
  await scene.assertHas(bytes);
  assert.equal(scene.hub.transfers.at(-1)?.range, `bytes=${size}-`);
});

it('processes that download one model keep what arrived where the disk refuses the rest', async () => {
  await using scene = await Scene.withModel(fakeModel(200_000));
  const command = 'ulimit -f 64 && exec "$0" "$1" "$2" "$3"';
  const args = ['-c', command, process.execPath, program, REFERENCE, JSON.stringify(scene.options())];
  const { stdout } = await promisify(execFile)('bash', args);
  assert.match(stdout, /"code":"disk","message":"write m\.gguf\.part: .*exceeds a limit/);
  const { size } = await stat(scene.at('o/r/m.gguf.part'));
  assert.equal(size, 64 * 1024);
  await scene.pull(REFERENCE);
  assert.equal(scene.hub.transfers.at(-1)?.range, `bytes=${size}-`);
});
