// Several downloads at once in one process; those of several processes are in lock.full.test.ts.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { fakeModel } from '../test/fake-hub.ts';
import { failsWith, REFERENCE, Scene } from '../test/scene.ts';

const bytes = fakeModel(100_000);

describe('concurrent downloads', () => {
  it('of one file: one fetches it, the other is refused, or waits', async () => {
    await using scene = await Scene.withModel(bytes);
    const outcomes = await Promise.allSettled([scene.pull(REFERENCE), scene.pull(REFERENCE)]);
    const [refused, ...others] = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    await assert.rejects(Promise.reject(refused), failsWith('busy', /m\.gguf is being downloaded already/));
    assert.deepEqual(others, []);
    await rm(scene.at('o'), { recursive: true });
    const before = scene.hub.transfers.length;
    const both = await Promise.all([1, 2].map(() => scene.pull(REFERENCE, { waitMs: 5_000 })));
    assert.deepEqual(both.map(({ isDownloaded }) => isDownloaded).sort(), [false, true]);
    assert.equal(scene.hub.transfers.length - before, 1);
    await scene.assertHas(bytes);
  });
});
