// Downloads that are cut off, changed under way, refused or stopped: what comes out is the model, or nothing.
import assert from 'node:assert/strict';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { fakeModel, sha256 } from '../test/fake-hub.ts';
import { failsWith, Scene } from '../test/scene.ts';
import type { Note } from './note.ts';

const REFERENCE = 'hf:o/r/m.gguf';
const bytes = fakeModel(400_000);
const once = { retries: 0 };

/** A first call that is cut off after some bytes; how many of them were kept. */
async function cutOff(scene: Scene): Promise<number> {
  scene.hub.faults.push({ kind: 'cut', afterBytes: 150_000 });
  await assert.rejects(scene.pull(REFERENCE, once), failsWith('network'));
  const { size } = await stat(scene.at('o/r/m.gguf.part'));
  assert.ok(size > 0 && size <= 150_000, `${size} bytes were kept`);
  return size;
}

/** All bytes of the model as a part, with a note. */
async function leaveBehind(scene: Scene, note: Partial<Note>): Promise<void> {
  await mkdir(scene.at('o/r'), { recursive: true });
  await writeFile(scene.at('o/r/m.gguf.part'), bytes);
  const source = `${scene.hub.endpoint}/o/r/resolve/main/m.gguf`;
  await writeFile(scene.at('o/r/m.gguf.part.json'), JSON.stringify({ source, ...note }));
}

/** The model is there, and nothing else is. */
async function assertWhole(scene: Scene, expected = bytes): Promise<void> {
  assert.ok((await scene.read('o/r/m.gguf')).equals(expected));
  assert.deepEqual(await scene.names('o/r'), ['m.gguf', 'm.gguf.json']);
}

describe('a download', () => {
  it('brings the whole file, from another origin, which never sees the token', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    const model = await scene.pull(REFERENCE, { token: 'hf_secret' });
    assert.deepEqual(model, {
      path: scene.at('o/r/m.gguf'),
      files: [model.path],
      sizeBytes: 400_000,
      isDownloaded: true,
    });
    await assertWhole(scene);
    assert.deepEqual(
      scene.hub.seen.map(({ server, authorization }) => [server, authorization]),
      [
        ['hub', 'Bearer hf_secret'],
        ['elsewhere', undefined],
      ],
    );
    for (const name of ['m.gguf.json', '.listing.json']) {
      const kept = await scene.read('o/r', name).catch(() => '');
      assert.doesNotMatch(kept.toString(), /secret/);
    }
  });

  it('sends the token no more once it was led away, not even back at home', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    scene.hub.faults.push({
      kind: 'status',
      status: 302,
      headers: { location: `${scene.hub.endpoint}/o/r/resolve/main/m.gguf` },
    });
    await scene.pull(REFERENCE, { token: 'hf_secret' });
    assert.deepEqual(
      scene.hub.seen.map(({ authorization }) => authorization !== undefined),
      [true, false, false, false],
    );
  });

  it('goes on where a lost connection broke off, and asks for nothing but the rest', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    scene.hub.faults.push({ kind: 'cut', afterBytes: 100_000 }, { kind: 'cut', afterBytes: 100_000 });
    await scene.pull(REFERENCE);
    await assertWhole(scene);
    const [first, second, third] = scene.hub.transfers.map(({ range }) =>
      Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0),
    );
    assert.equal(first, 0);
    assert.ok(second !== undefined && second > 0 && second <= 100_000);
    assert.ok(third !== undefined && third > second && third <= 200_000);
    assert.equal(scene.hub.transfers.length, 3);
    assert.equal(scene.retries.length, 2);
    assert.match(scene.retries[0]?.reason ?? '', /^the connection to 127\.0\.0\.1:\d+ failed/);
  });

  it('goes on in the next call, by the hash that the hub tells', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes, etag: '"here"' } });
    const kept = await cutOff(scene);
    // Another copy of the same file, on a server that tags it otherwise.
    scene.hub.files.set('m.gguf', { bytes, etag: '"there"' });
    await scene.pull(REFERENCE, once);
    await assertWhole(scene);
    assert.equal(scene.hub.transfers.at(-1)?.range, `bytes=${kept}-`);
    assert.equal(scene.progress.at(-1)?.isResumed, true);
  });

  it('goes on by the tag, where the hub tells no hash', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes, sha256: null } });
    const kept = await cutOff(scene);
    await scene.pull(REFERENCE, once);
    await assertWhole(scene);
    assert.equal(scene.hub.transfers.at(-1)?.range, `bytes=${kept}-`);
    assert.equal(scene.hub.transfers.at(-1)?.ifRange, '"one"');
  });

  it('begins anew when the file has another hash by now', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    await cutOff(scene);
    const changed = fakeModel(400_000, 2);
    scene.hub.files.set('m.gguf', { bytes: changed });
    await scene.pull(REFERENCE, once);
    await assertWhole(scene, changed);
    assert.equal(scene.hub.transfers.at(-1)?.range, undefined);
  });

  it('begins anew when the file has another tag by now', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes, sha256: null } });
    await cutOff(scene);
    const changed = fakeModel(400_000, 2);
    scene.hub.files.set('m.gguf', { bytes: changed, sha256: null, etag: '"two"' });
    await scene.pull(REFERENCE, once);
    await assertWhole(scene, changed);
    assert.equal(scene.hub.transfers.at(-1)?.ifRange, '"one"');
  });

  it('begins anew when a server sends the rest of another file all the same', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes, sha256: null } });
    await cutOff(scene);
    const changed = fakeModel(400_000, 2);
    scene.hub.files.set('m.gguf', { bytes: changed, sha256: null, etag: '"two"' });
    scene.hub.faults.push({
      kind: 'raw',
      answer: (response) => {
        const from = Number(/\d+/.exec(scene.hub.transfers.at(-1)?.range ?? '')?.[0]);
        const range = `bytes ${from}-${changed.length - 1}/${changed.length}`;
        response.writeHead(206, { 'content-range': range, etag: '"two"' }).end(changed.subarray(from));
      },
    });
    await scene.pull(REFERENCE);
    await assertWhole(scene, changed);
  });

  it('begins anew when a server knows no ranges, or sends another one', async () => {
    for (const answer of ['no-ranges', 'other range'] as const) {
      await using scene = await Scene.start({ 'm.gguf': { bytes } });
      await cutOff(scene);
      if (answer === 'no-ranges') scene.hub.faults.push({ kind: 'no-ranges' });
      else {
        const headers = { 'content-range': `bytes 7-${bytes.length - 1}/${bytes.length}` };
        scene.hub.faults.push({
          kind: 'raw',
          answer: (response) => response.writeHead(206, headers).end(bytes.subarray(7)),
        });
      }
      await scene.pull(REFERENCE);
      await assertWhole(scene);
    }
  });

  it('begins anew when there is nothing after what it has', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes, sha256: null, announcedBytes: null } });
    await cutOff(scene);
    const shorter = fakeModel(5_000, 2);
    scene.hub.files.set('m.gguf', { bytes: shorter, sha256: null, announcedBytes: null });
    await scene.pull(REFERENCE);
    await assertWhole(scene, shorter);
  });

  it('is complete when a 416 says so', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes, sha256: null, announcedBytes: null } });
    // Everything came, but no server ever said how much it is.
    await leaveBehind(scene, { etag: '"one"' });
    await scene.pull(REFERENCE, once);
    await assertWhole(scene);
    assert.equal(scene.hub.transfers.at(-1)?.range, `bytes=${bytes.length}-`);
  });

  it('begins anew when a 416 says that it has too much, or another hub sent what it has', async () => {
    const silent = { sha256: null, announcedBytes: null };
    for (const source of [undefined, 'http://other.example/o/r/resolve/main/m.gguf']) {
      const now = fakeModel(source ? 500_000 : 5_000, 2);
      await using scene = await Scene.start({ 'm.gguf': { bytes: now, ...silent } });
      await leaveBehind(scene, { etag: '"one"', ...(source ? { source } : {}) });
      await scene.pull(REFERENCE);
      await assertWhole(scene, now);
    }
  });

  it('that ends too early, and says nothing of it, goes on', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    scene.hub.faults.push({
      kind: 'raw',
      answer: (response) => response.writeHead(200).end(bytes.subarray(0, 50_000)),
    });
    await scene.pull(REFERENCE);
    await assertWhole(scene);
    assert.equal(scene.hub.transfers.at(-1)?.range, 'bytes=50000-');
  });

  it('that comes on is never given up', async () => {
    const large = fakeModel(6_000_000);
    await using scene = await Scene.start({ 'm.gguf': { bytes: large } });
    for (let at = 0; at < 3; at++) scene.hub.faults.push({ kind: 'cut', afterBytes: 1_700_000 });
    await scene.pull(REFERENCE, { retries: 1 });
    await assertWhole(scene, large);
  });

  it('that was cut off before its check alone needs no network', async () => {
    await using scene = await Scene.start();
    await leaveBehind(scene, { sizeBytes: bytes.length, sha256: sha256(bytes) });
    await scene.pull(REFERENCE);
    await assertWhole(scene);
    assert.deepEqual(scene.hub.seen, []);
  });

  it('keeps what another hub sent until this one has something in its place', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    await leaveBehind(scene, { source: 'http://other.example/o/r/resolve/main/m.gguf' });
    await assert.rejects(scene.pull(REFERENCE, { ...once, endpoint: 'http://127.0.0.1:9' }), failsWith('network'));
    assert.ok((await scene.read('o/r/m.gguf.part')).equals(bytes));
    await scene.pull(REFERENCE);
    await assertWhole(scene);
  });

  it('begins anew when nothing is known of the bytes that are here', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    await leaveBehind(scene, {});
    await writeFile(scene.at('o/r/m.gguf.part.json'), '{"sizeBytes":');
    await scene.pull(REFERENCE, once);
    await assertWhole(scene);
    assert.equal(scene.hub.transfers.at(-1)?.range, undefined);
  });

  it('takes what no server tells the size of', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes, sha256: null, announcedBytes: null } });
    scene.hub.faults.push({ kind: 'raw', answer: (response) => response.end(bytes) });
    await scene.pull(REFERENCE, once);
    await assertWhole(scene);
    assert.equal(JSON.parse((await scene.read('o/r/m.gguf.json')).toString()).sha256, sha256(bytes));
  });

  it('that is stopped keeps what came, and the next one goes on', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    scene.hub.faults.push({ kind: 'stall', afterBytes: 100_000 });
    const stopping = new AbortController();
    const reason = new Error('enough');
    const pulling = scene.pull(REFERENCE, { signal: stopping.signal });
    while (!scene.progress.some(({ receivedBytes }) => receivedBytes > 0))
      await new Promise((resolve) => setTimeout(resolve, 5));
    stopping.abort(reason);
    await assert.rejects(pulling, reason);
    const { size } = await stat(scene.at('o/r/m.gguf.part'));
    assert.ok(size > 0);
    await scene.pull(REFERENCE);
    await assertWhole(scene);
    assert.equal(scene.hub.transfers.at(-1)?.range, `bytes=${size}-`);
  });

  it('is stopped while it waits for its next try', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    scene.hub.hubFaults.push({ kind: 'status', status: 503 });
    const startedAt = performance.now();
    const pulling = scene.pull(REFERENCE, { retryMs: 60_000, signal: AbortSignal.timeout(50) });
    await assert.rejects(pulling, { name: 'TimeoutError' });
    assert.ok(performance.now() - startedAt < 5_000);
  });

  it('leaves a server that has fallen silent, and goes on', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    scene.hub.faults.push({ kind: 'stall', afterBytes: 100_000 }, { kind: 'raw', answer: () => {} });
    await scene.pull(REFERENCE, { idleTimeoutMs: 150 });
    await assertWhole(scene);
    const [, second, third] = scene.hub.transfers;
    assert.match(second?.range ?? '', /^bytes=[1-9]\d*-$/);
    assert.equal(third?.range, second?.range);
  });

  it('says who was silent, when patience ends', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    scene.hub.faults.push({ kind: 'raw', answer: () => {} });
    await assert.rejects(
      scene.pull(REFERENCE, { ...once, idleTimeoutMs: 50 }),
      failsWith('network', /nothing came for 0\.05 s/),
    );
  });

  it('tells how far it is, seldom, and at its end', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes: fakeModel(3_000_000) } });
    const startedAt = performance.now();
    await scene.pull(REFERENCE);
    const atMost = 2 + (performance.now() - startedAt) / 100;
    assert.ok(scene.progress.length <= atMost, `${scene.progress.length} reports`);
    const last = { file: 'm.gguf', receivedBytes: 3_000_000, totalBytes: 3_000_000, isResumed: false };
    assert.deepEqual(scene.progress.at(-1), last);
  });
});
