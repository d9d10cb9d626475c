// Downloads that are cut off, changed while they run, refused or stopped: the result is the complete model, or nothing.
import assert from 'node:assert/strict';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { until } from '../../../../tests/support/until.ts';
import { cut, type FakeFile, type Fault, fakeModel, raw, sha256, stall, status } from '../test/fake-hub.ts';
import { failsWith, offline, once, REFERENCE, Scene } from '../test/scene.ts';
import type { ModelStoreOptions } from './resolve-model.ts';

const bytes = fakeModel(400_000);
const silent = { sha256: null, announcedBytes: null };
const start = (file?: Partial<FakeFile>) => Scene.withModel(bytes, file);

/** All bytes of the model as a part, with a note, which has the source of this hub where it has none. */
async function leaveBehind(scene: Scene, note: string): Promise<void> {
  await mkdir(scene.at('o/r'), { recursive: true });
  await writeFile(scene.at('o/r/m.gguf.part'), bytes);
  const source = `"source":"${scene.hub.endpoint}/o/r/resolve/main/m.gguf"`;
  await writeFile(scene.at('o/r/m.gguf.part.json'), note.replace('{', `{${source},`));
}

/** Pulls the model, after which the store has that and nothing else; the range of the last request for bytes. */
async function completes(scene: Scene, options: Partial<ModelStoreOptions> = {}, expected = bytes) {
  await scene.pull(REFERENCE, options);
  await scene.assertHas(expected);
  assert.deepEqual(await scene.names('o/r'), ['m.gguf', 'm.gguf.json']);
  return scene.hub.transfers.at(-1)?.range;
}

describe('a download', () => {
  it('brings the complete file from another origin, which never receives the token', async () => {
    await using scene = await start();
    const model = await scene.pull(REFERENCE, { token: 'hf_secret' });
    const path = scene.at('o/r/m.gguf');
    assert.deepEqual(model, { path, files: [path], sizeBytes: 400_000, isDownloaded: true });
    const received = scene.hub.received.map(({ server, authorization }) => `${server} ${authorization}`);
    assert.deepEqual(received, ['hub Bearer hf_secret', 'elsewhere undefined']);
    await completes(scene);
    for (const name of ['m.gguf.json', '.listing.json']) {
      const kept = await scene.read('o/r', name).catch(() => '');
      assert.doesNotMatch(kept.toString(), /secret/);
    }
  });

  it('sends the token no more after a redirect to another origin, not even back to the hub', async () => {
    await using scene = await start();
    scene.hub.faults.push(status(302, { location: `${scene.hub.endpoint}/o/r/resolve/main/m.gguf` }));
    await scene.pull(REFERENCE, { token: 'hf_secret' });
    const hasToken = scene.hub.received.map(({ authorization }) => authorization !== undefined);
    assert.deepEqual(hasToken, [true, false, false, false]);
  });

  it('continues where a connection broke, and asks for nothing but the rest', async () => {
    await using scene = await start();
    scene.hub.faults.push(cut(100_000), cut(100_000));
    await completes(scene);
    const ranges = scene.hub.transfers.map(({ range = 'bytes=0-' }) => Number(/^bytes=(\d+)-$/.exec(range)?.[1]));
    const [first, second = 0, third = 0] = ranges;
    assert.deepEqual([first, ranges.length, scene.retries.length], [0, 3, 2]);
    assert.ok(second > 0 && second <= 100_000 && third >= second && third <= 200_000, `${second} ${third}`);
    assert.match(scene.retries[0]?.reason ?? '', /^the connection to 127\.0\.0\.1:\d+ failed/);
  });

  it('continues in the next call by the hash, where another server tags the same file otherwise', async () => {
    await using scene = await start({ etag: '"here"' });
    const kept = await scene.cutOff(150_000);
    scene.hub.files.set('m.gguf', { bytes, etag: '"there"' });
    assert.equal(await completes(scene, once), `bytes=${kept}-`);
  });

  it('continues by the tag, where the hub gives no hash', async () => {
    await using scene = await start({ sha256: null });
    const kept = await scene.cutOff(150_000);
    assert.equal(await completes(scene, once), `bytes=${kept}-`);
    assert.equal(scene.hub.transfers.at(-1)?.ifRange, '"one"');
  });

  const smaller = { bytes: fakeModel(5_000, 2), ...silent };
  const changed = { bytes: fakeModel(400_000, 2), sha256: null, etag: '"two"' };
  const range = (from: number, headers: object, of: Buffer) =>
    raw((response) => {
      const all = { 'content-range': `bytes ${from}-${of.length - 1}/${of.length}`, ...headers };
      response.writeHead(206, all).end(of.subarray(from));
    });
  const rest = (kept: number) => range(kept, { etag: '"two"' }, changed.bytes);
  const cases: [name: string, file: Partial<FakeFile>, next: FakeFile, fault?: (kept: number) => Fault][] = [
    ['the file has another hash', {}, { bytes: changed.bytes }],
    ['the file has another tag', { sha256: null }, changed],
    ['the server sends the rest of another file', { sha256: null }, changed, rest],
    ['the server supports no ranges', {}, { bytes }, () => ({ kind: 'no-ranges' })],
    ['the server sends another range', {}, { bytes }, () => range(7, {}, bytes)],
    ['there is nothing after what it has', silent, smaller],
  ];
  for (const [name, file, next, fault] of cases)
    it(`starts again when ${name}`, async () => {
      await using scene = await start(file);
      const kept = await scene.cutOff(150_000);
      scene.hub.files.set('m.gguf', next);
      const before = scene.hub.transfers.length;
      if (fault) scene.hub.faults.push(fault(kept));
      await completes(scene, fault || file === silent ? {} : once, next.bytes);
      const { range: asked, ifRange } = scene.hub.transfers[before] ?? {};
      // A changed hash is known before any bytes are asked for; the other cases only from the answer.
      assert.equal(asked, name.endsWith('another hash') ? undefined : `bytes=${kept}-`);
      assert.equal(ifRange, file.sha256 === null ? '"one"' : undefined);
    });

  const all = `bytes=${bytes.length}-`;
  const tagged = JSON.stringify({ etag: '"one"' });
  const checkable = JSON.stringify({ sizeBytes: bytes.length, sha256: sha256(bytes) });
  for (const [name, file, note, asked] of [
    // Everything arrived, but no server ever gave the size.
    ['is complete when a 416 confirms the size', silent, tagged, [all]],
    ['starts again when a 416 gives a smaller size', smaller, tagged, [all, undefined]],
    ['starts again when the note of the bytes is damaged', {}, '{"sizeBytes":', [undefined]],
    ['that lacks only its check needs no network', {}, checkable, []],
  ] as [string, Partial<FakeFile>, string, unknown[]][])
    it(name, async () => {
      await using scene = await start(file);
      await leaveBehind(scene, note);
      await completes(scene, {}, file.bytes);
      const ranges = scene.hub.transfers.map(({ range }) => range);
      assert.deepEqual(ranges, asked);
      if (asked.length === 0) assert.deepEqual(scene.hub.received, []);
    });

  it('keeps the bytes of another hub until this one has a replacement, and adds nothing to them', async () => {
    const larger = fakeModel(500_000, 2);
    await using scene = await Scene.withModel(larger, silent);
    await leaveBehind(scene, JSON.stringify({ etag: '"one"', source: 'http://other.example/o/r/resolve/main/m.gguf' }));
    await assert.rejects(scene.pull(REFERENCE, offline), failsWith('network', /127\.0\.0\.1:9/));
    await scene.assertHas(bytes, 'o/r/m.gguf.part');
    await completes(scene, {}, larger);
  });

  it('continues after an answer that ends too early without an error', async () => {
    await using scene = await start();
    scene.hub.faults.push(raw((response) => response.writeHead(200).end(bytes.subarray(0, 50_000))));
    assert.equal(await completes(scene), 'bytes=50000-');
  });

  it('is never given up while it makes progress', async () => {
    const large = fakeModel(6_000_000);
    await using scene = await Scene.withModel(large);
    scene.hub.faults.push(cut(1_700_000), cut(1_700_000), cut(1_700_000));
    await completes(scene, { retries: 1 }, large);
  });

  it('accepts a file whose size no server gives', async () => {
    await using scene = await start(silent);
    scene.hub.faults.push(raw((response) => response.end(bytes)));
    await completes(scene, once);
    assert.equal(JSON.parse((await scene.read('o/r/m.gguf.json')).toString()).sha256, sha256(bytes));
  });

  it('that is stopped keeps what arrived, and the next one continues', async () => {
    await using scene = await start();
    scene.hub.faults.push(stall(100_000));
    const stopping = new AbortController();
    const pulling = scene.pull(REFERENCE, { signal: stopping.signal });
    await until(() => scene.progress.some(({ receivedBytes }) => receivedBytes > 0));
    const reason = new Error('enough');
    stopping.abort(reason);
    await assert.rejects(pulling, reason);
    const { size } = await stat(scene.at('o/r/m.gguf.part'));
    assert.ok(size > 0);
    assert.equal(await completes(scene), `bytes=${size}-`);
  });

  it('can be stopped while it waits for its next try, as long as the hub asks for', async () => {
    for (const [headers, retryMs, fromMs, toMs] of [
      [{ 'retry-after': '3' }, 1, 3_000, 3_000],
      [{ 'retry-after': new Date(Date.now() + 20_000).toUTCString() }, 1, 1, 20_000],
      [{}, 60_000, 22_500, 37_500],
    ] as [Record<string, string>, number, number, number][]) {
      await using scene = await start();
      scene.hub.hubFaults.push(status(429, headers));
      const stopping = new AbortController();
      const pulling = scene.pull(REFERENCE, { retryMs, signal: stopping.signal });
      await until(() => scene.retries.length > 0);
      stopping.abort(new Error('enough'));
      await assert.rejects(pulling, /^Error: enough$/);
      const { pauseMs = 0 } = scene.retries[0] ?? {};
      assert.ok(pauseMs >= fromMs && pauseMs <= toMs, `${pauseMs} ms for ${JSON.stringify(headers)}`);
      assert.equal(scene.hub.received.length, 1);
    }
  });

  it('leaves a server that falls silent, and continues', async () => {
    await using scene = await start();
    const silence = raw(() => {});
    scene.hub.faults.push(stall(100_000), silence);
    const last = await completes(scene, { idleTimeoutMs: 150 });
    assert.match(last ?? '', /^bytes=[1-9]\d*-$/);
    assert.equal(scene.hub.transfers[1]?.range, last);
    scene.hub.faults.push(silence);
    const pulling = scene.pull(`${REFERENCE}@other`, { ...once, idleTimeoutMs: 50 });
    await assert.rejects(pulling, failsWith('network', /no data for 0\.05 s/));
  });

  it('reports its progress at a limited rate, and at its end', async () => {
    await using scene = await Scene.withModel(fakeModel(3_000_000));
    const startedAt = performance.now();
    await scene.pull(REFERENCE);
    const max = 2 + (performance.now() - startedAt) / 100;
    assert.ok(scene.progress.length <= max, `${scene.progress.length} reports`);
    const last = { file: 'm.gguf', receivedBytes: 3_000_000, totalBytes: 3_000_000 };
    assert.deepEqual(scene.progress.at(-1), last);
  });
});
