// Several at once, in one process and in many, and one that is killed: there is one download, and one whole file.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fakeModel } from '../test/fake-hub.ts';
import { failsWith, Scene } from '../test/scene.ts';

const bytes = fakeModel(100_000);

describe('downloads at once', () => {
  it('of one file: one brings it, the other is told, or waits', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    const outcomes = await Promise.allSettled([scene.pull('hf:o/r/m.gguf'), scene.pull('hf:o/r/m.gguf')]);
    const [refused] = outcomes.filter(({ status }) => status === 'rejected');
    assert.ok(
      refused?.status === 'rejected' && failsWith('busy', /m\.gguf is being downloaded already/)(refused.reason),
    );
    await rm(scene.at('o'), { recursive: true });
    const before = scene.hub.transfers.length;
    const both = await Promise.all([1, 2].map(() => scene.pull('hf:o/r/m.gguf', { waitMs: 5_000 })));
    assert.deepEqual(both.map(({ isDownloaded }) => isDownloaded).sort(), [false, true]);
    assert.equal(scene.hub.transfers.length - before, 1);
    assert.ok((await scene.read('o/r/m.gguf')).equals(bytes));
  });

  it('in two processes: the second is told while the first lives, and takes over when it was killed', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    scene.hub.faults.push({ kind: 'stall', afterBytes: 60_000 });
    const first = pullElsewhere(scene);
    const size = await grown(scene.at('o/r/m.gguf.part'));
    await assert.rejects(scene.pull('hf:o/r/m.gguf'), failsWith('busy'));
    const waiting = scene.pull('hf:o/r/m.gguf', { waitMs: 10_000 });
    first.kill('SIGKILL');
    await waiting;
    assert.ok((await scene.read('o/r/m.gguf')).equals(bytes));
    assert.equal(scene.hub.transfers.at(-1)?.range, `bytes=${size}-`);
  });

  it('in many processes leave one whole file', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    const said = await Promise.all([1, 2, 3].map(() => text(pullElsewhere(scene, { waitMs: 20_000 }).stdout)));
    for (const line of said) assert.equal(JSON.parse(line).path, scene.at('o/r/m.gguf'));
    assert.equal(scene.hub.transfers.length, 1);
    assert.ok((await scene.read('o/r/m.gguf')).equals(bytes));
  });
});

function pullElsewhere(scene: Scene, options = {}): ChildProcess & { readonly stdout: NodeJS.ReadableStream } {
  const program = path.join(import.meta.dirname, '../test/pull-process.ts');
  const args = [program, 'hf:o/r/m.gguf', JSON.stringify(scene.options({ idleTimeoutMs: 20_000, ...options }))];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Size of a file that has stopped growing. */
async function grown(file: string): Promise<number> {
  for (let before = -1; ; await sleep(50)) {
    const size = await stat(file).then(
      (found) => found.size,
      () => 0,
    );
    if (size > 0 && size === before) return size;
    before = size;
  }
}
