// Downloads that are cut off, changed while they run, refused or stopped: the result is the complete model, or nothing.
import assert from 'node:assert/strict';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FakeFile, type Fault, fakeModel, sha256 } from '../test/fake-hub.ts';
import { failsWith, Scene } from '../test/scene.ts';
import type { Note } from './note.ts';

const REFERENCE = 'hf:o/r/m.gguf';
const bytes = fakeModel(400_000);
const once = { retries: 0 };
const cut = (afterBytes: number) => ({ kind: 'cut', afterBytes }) as const;
const raw = (answer: Extract<Fault, { kind: 'raw' }>['answer']) => ({ kind: 'raw', answer }) as const;
const start = (file: Partial<FakeFile> = {}) => Scene.start({ 'm.gguf': { bytes, ...file } });

/** A first call that is cut off after some bytes; how many of them were kept. */
async function cutOff(scene: Scene): Promise<number> {
  scene.hub.faults.push(cut(150_000));
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
async function assertComplete(scene: Scene, expected = bytes): Promise<void> {
  assert.ok((await scene.read('o/r/m.gguf')).equals(expected));
  assert.deepEqual(await scene.names('o/r'), ['m.gguf', 'm.gguf.json']);
}

describe('a download', () => {
  it('brings the complete file from another origin, which never receives the token', async () => {
    await using scene = await start();
    const model = await scene.pull(REFERENCE, { token: 'hf_secret' });
    const path = scene.at('o/r/m.gguf');
    assert.deepEqual(model, { path, files: [path], sizeBytes: 400_000, isDownloaded: true });
    await assertComplete(scene);
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

  it('sends the token no more after a redirect to another origin, not even back to the hub', async () => {
    await using scene = await start();
    const headers = { location: `${scene.hub.endpoint}/o/r/resolve/main/m.gguf` };
    scene.hub.faults.push({ kind: 'status', status: 302, headers });
    await scene.pull(REFERENCE, { token: 'hf_secret' });
    assert.deepEqual(
      scene.hub.seen.map(({ authorization }) => authorization !== undefined),
      [true, false, false, false],
    );
  });

  it('continues where a connection broke, and asks for nothing but the rest', async () => {
    await using scene = await start();
    scene.hub.faults.push(cut(100_000), cut(100_000));
    await scene.pull(REFERENCE);
    await assertComplete(scene);
    const [first, second = 0, third = 0] = scene.hub.transfers.map(({ range }) =>
      Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0),
    );
    assert.equal(first, 0);
    assert.ok(second > 0 && second <= 100_000 && third > second && third <= 200_000, `${second} ${third}`);
    assert.deepEqual([scene.hub.transfers.length, scene.retries.length], [3, 2]);
    assert.match(scene.retries[0]?.reason ?? '', /^the connection to 127\.0\.0\.1:\d+ failed/);
  });

  it('continues in the next call by the hash, where another server tags the same file otherwise', async () => {
    await using scene = await start({ etag: '"here"' });
    const kept = await cutOff(scene);
    scene.hub.files.set('m.gguf', { bytes, etag: '"there"' });
    await scene.pull(REFERENCE, once);
    await assertComplete(scene);
    assert.equal(scene.hub.transfers.at(-1)?.range, `bytes=${kept}-`);
    assert.equal(scene.progress.at(-1)?.isResumed, true);
  });

  it('continues by the tag, where the hub gives no hash', async () => {
    await using scene = await start({ sha256: null });
    const kept = await cutOff(scene);
    await scene.pull(REFERENCE, once);
    await assertComplete(scene);
    const { range, ifRange } = scene.hub.transfers.at(-1) ?? {};
    assert.deepEqual([range, ifRange], [`bytes=${kept}-`, '"one"']);
  });

  const changed = fakeModel(400_000, 2);
  const silent = { sha256: null, announcedBytes: null };
  const range = (from: number, headers: object, of: Buffer) =>
    raw((response) => {
      const all = { 'content-range': `bytes ${from}-${of.length - 1}/${of.length}`, ...headers };
      response.writeHead(206, all).end(of.subarray(from));
    });
  const cases: [name: string, file: Partial<FakeFile>, next: FakeFile, fault?: (kept: number) => Fault][] = [
    ['the file has another hash', {}, { bytes: changed }],
    ['the file has another tag', { sha256: null }, { bytes: changed, sha256: null, etag: '"two"' }],
    [
      'the server sends the rest of another file',
      { sha256: null },
      { bytes: changed, sha256: null, etag: '"two"' },
      (kept) => range(kept, { etag: '"two"' }, changed),
    ],
    ['the server supports no ranges', {}, { bytes }, () => ({ kind: 'no-ranges' })],
    ['the server sends another range', {}, { bytes }, () => range(7, {}, bytes)],
    ['there is nothing after what it has', silent, { bytes: fakeModel(5_000, 2), ...silent }],
  ];
  for (const [name, file, next, fault] of cases)
    it(`starts again when ${name}`, async () => {
      await using scene = await start(file);
      const kept = await cutOff(scene);
      scene.hub.files.set('m.gguf', next);
      const before = scene.hub.transfers.length;
      if (fault) scene.hub.faults.push(fault(kept));
      await scene.pull(REFERENCE, fault || file === silent ? {} : once);
      await assertComplete(scene, next.bytes);
      const { range: asked, ifRange } = scene.hub.transfers[before] ?? {};
      // A changed hash is known before any bytes are asked for; the other cases only from the answer.
      assert.equal(asked, name.endsWith('another hash') ? undefined : `bytes=${kept}-`);
      assert.equal(ifRange, file.sha256 === null ? '"one"' : undefined);
    });

  it('is complete when a 416 confirms the size', async () => {
    await using scene = await start(silent);
    // Everything arrived, but no server ever gave the size.
    await leaveBehind(scene, { etag: '"one"' });
    await scene.pull(REFERENCE, once);
    await assertComplete(scene);
    assert.equal(scene.hub.transfers.at(-1)?.range, `bytes=${bytes.length}-`);
  });

  it('starts again when a 416 gives a smaller size, or another hub sent the bytes', async () => {
    for (const source of [undefined, 'http://other.example/o/r/resolve/main/m.gguf']) {
      const now = fakeModel(source ? 500_000 : 5_000, 2);
      await using scene = await start({ bytes: now, ...silent });
      await leaveBehind(scene, { etag: '"one"', ...(source ? { source } : {}) });
      await scene.pull(REFERENCE);
      await assertComplete(scene, now);
    }
  });

  it('continues after an answer that ends too early without an error', async () => {
    await using scene = await start();
    scene.hub.faults.push(raw((response) => response.writeHead(200).end(bytes.subarray(0, 50_000))));
    await scene.pull(REFERENCE);
    await assertComplete(scene);
    assert.equal(scene.hub.transfers.at(-1)?.range, 'bytes=50000-');
  });

  it('is never given up while it makes progress', async () => {
    const large = fakeModel(6_000_000);
    await using scene = await start({ bytes: large });
    for (let at = 0; at < 3; at++) scene.hub.faults.push(cut(1_700_000));
    await scene.pull(REFERENCE, { retries: 1 });
    await assertComplete(scene, large);
  });

  it('that lacks only its check needs no network', async () => {
    await using scene = await Scene.start();
    await leaveBehind(scene, { sizeBytes: bytes.length, sha256: sha256(bytes) });
    await scene.pull(REFERENCE);
    await assertComplete(scene);
    assert.deepEqual(scene.hub.seen, []);
  });

  it('keeps the bytes of another hub until this one has a replacement', async () => {
    await using scene = await start();
    await leaveBehind(scene, { source: 'http://other.example/o/r/resolve/main/m.gguf' });
    await assert.rejects(scene.pull(REFERENCE, { ...once, endpoint: 'http://127.0.0.1:9' }), failsWith('network'));
    assert.ok((await scene.read('o/r/m.gguf.part')).equals(bytes));
    await scene.pull(REFERENCE);
    await assertComplete(scene);
  });

  it('starts again when the note of the bytes is damaged', async () => {
    await using scene = await start();
    await leaveBehind(scene, {});
    await writeFile(scene.at('o/r/m.gguf.part.json'), '{"sizeBytes":');
    await scene.pull(REFERENCE, once);
    await assertComplete(scene);
    assert.equal(scene.hub.transfers.at(-1)?.range, undefined);
  });

  it('accepts a file whose size no server gives', async () => {
    await using scene = await start(silent);
    scene.hub.faults.push(raw((response) => response.end(bytes)));
    await scene.pull(REFERENCE, once);
    await assertComplete(scene);
    assert.equal(JSON.parse((await scene.read('o/r/m.gguf.json')).toString()).sha256, sha256(bytes));
  });

  it('that is stopped keeps what arrived, and the next one continues', async () => {
    await using scene = await start();
    scene.hub.faults.push({ kind: 'stall', afterBytes: 100_000 });
    const stopping = new AbortController();
    const pulling = scene.pull(REFERENCE, { signal: stopping.signal });
    while (!scene.progress.some(({ receivedBytes }) => receivedBytes > 0)) await sleep(5);
    const reason = new Error('enough');
    stopping.abort(reason);
    await assert.rejects(pulling, reason);
    const { size } = await stat(scene.at('o/r/m.gguf.part'));
    assert.ok(size > 0);
    await scene.pull(REFERENCE);
    await assertComplete(scene);
    assert.equal(scene.hub.transfers.at(-1)?.range, `bytes=${size}-`);
  });

  it('can be stopped while it waits for its next try, as long as the hub asks for', async () => {
    const soon = new Date(Date.now() + 20_000).toUTCString();
    for (const [header, fromMs, toMs] of [
      ['3', 3_000, 3_000],
      [soon, 1, 20_000],
      [undefined, 22_500, 37_500],
    ] as const) {
      await using scene = await start();
      const headers = header === undefined ? {} : { 'retry-after': header };
      scene.hub.hubFaults.push({ kind: 'status', status: 429, headers });
      const stopping = new AbortController();
      const retryMs = header === undefined ? 60_000 : 1;
      const pulling = scene.pull(REFERENCE, { retryMs, signal: stopping.signal });
      while (scene.retries.length === 0) await sleep(2);
      stopping.abort(new Error('enough'));
      await assert.rejects(pulling, /^Error: enough$/);
      const { pauseMs = 0 } = scene.retries[0] ?? {};
      assert.ok(pauseMs >= fromMs && pauseMs <= toMs, `${pauseMs} ms for ${header}`);
      assert.equal(scene.hub.seen.length, 1);
    }
  });

  it('leaves a server that falls silent, and continues', async () => {
    await using scene = await start();
    scene.hub.faults.push(
      { kind: 'stall', afterBytes: 100_000 },
      raw(() => {}),
    );
    await scene.pull(REFERENCE, { idleTimeoutMs: 150 });
    await assertComplete(scene);
    const [, second, third] = scene.hub.transfers;
    assert.match(second?.range ?? '', /^bytes=[1-9]\d*-$/);
    assert.equal(third?.range, second?.range);
  });

  it('names the silence that it did not wait for', async () => {
    await using scene = await start();
    scene.hub.faults.push(raw(() => {}));
    const pulling = scene.pull(REFERENCE, { ...once, idleTimeoutMs: 50 });
    await assert.rejects(pulling, failsWith('network', /nothing came for 0\.05 s/));
  });

  it('reports its progress at a limited rate, and at its end', async () => {
    await using scene = await start({ bytes: fakeModel(3_000_000) });
    const startedAt = performance.now();
    await scene.pull(REFERENCE);
    const max = 2 + (performance.now() - startedAt) / 100;
    assert.ok(scene.progress.length <= max, `${scene.progress.length} reports`);
    const last = { file: 'm.gguf', receivedBytes: 3_000_000, totalBytes: 3_000_000, isResumed: false };
    assert.deepEqual(scene.progress.at(-1), last);
  });
});
