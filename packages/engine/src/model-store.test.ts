// A store as its callers use it: by every kind of reference, with the hub and without it.
import assert from 'node:assert/strict';
import { mkdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { listModels, resolveModel } from './index.ts';
import { fakeModel, sha256 } from './test/fake-hub.ts';
import { failsWith, Scene } from './test/scene.ts';

const bytes = fakeModel(100_000);
const other = fakeModel(100_000, 2);
const nowhere = { endpoint: 'http://127.0.0.1:9', retries: 0 };

describe('a file of this machine', () => {
  it('is what it is, with all its parts', async () => {
    await using scene = await Scene.start();
    const parts = [1, 2].map((part) => scene.at(`m-0000${part}-of-00002.gguf`));
    for (const part of parts) await writeFile(part, bytes);
    const model = { path: parts[0], files: parts, sizeBytes: 200_000, isDownloaded: false };
    for (const part of parts) assert.deepEqual(await resolveModel(part, { dir: '/nowhere' }), model);
    await rm(parts[1] ?? '');
    await assert.rejects(resolveModel(parts[0] ?? '', { dir: '/nowhere' }), failsWith('not-found', /00002-of-00002/));
  });

  it('is refused when it is none', async () => {
    await using scene = await Scene.start();
    await writeFile(scene.at('page.gguf'), '<html>');
    await mkdir(scene.at('folder.gguf'));
    await assert.rejects(scene.pull(scene.at('page.gguf')), failsWith('corrupt', /not a GGUF file/));
    await assert.rejects(scene.pull(scene.at('none.gguf')), failsWith('not-found', /there is no file/));
    await assert.rejects(scene.pull(scene.at('folder.gguf')), failsWith('disk'));
  });
});

describe('a model of a hub', () => {
  it('is found by its quantisation, and again without the hub', async () => {
    await using scene = await Scene.start({ 'm-Q4_K_M.gguf': { bytes }, 'm-Q8_0.gguf': { bytes: other } });
    const model = await scene.pull('hf:o/r:q8_0');
    assert.equal(model.path, scene.at('o/r/m-Q8_0.gguf'));
    assert.ok((await scene.read('o/r/m-Q8_0.gguf')).equals(other));
    const again = { ...model, isDownloaded: false };
    for (const reference of ['hf:o/r:q8_0', 'hf:o/r:Q8_0', 'hf:o/r/m-Q8_0.gguf']) {
      assert.deepEqual(await scene.pull(reference, nowhere), again, reference);
    }
    // What was never fetched is not mistaken for what was.
    await assert.rejects(scene.pull('hf:o/r', nowhere), failsWith('network'));
    assert.equal((await scene.pull('hf:o/r')).path, scene.at('o/r/m-Q4_K_M.gguf'));
    await assert.rejects(scene.pull('hf:o/r:Q5'), failsWith('not-found', /m-Q4_K_M\.gguf, m-Q8_0\.gguf/));
    await assert.rejects(scene.pull('hf:o/r:m'), failsWith('ambiguous'));
  });

  it('comes with all its parts', async () => {
    const names = [1, 2, 3].map((part) => `Q8_0/m-0000${part}-of-00003.gguf`);
    const parts = names.map((name, at) => [name, { bytes: fakeModel(50_000, at) }]);
    await using scene = await Scene.start(Object.fromEntries(parts));
    scene.hub.faults.push({ kind: 'none' }, { kind: 'cut', afterBytes: 20_000 });
    const model = await scene.pull('hf:o/r:Q8_0');
    const files = names.map((name) => scene.at('o/r', name));
    assert.deepEqual([model.files, model.path, model.sizeBytes], [files, files[0], 150_000]);
    // One is gone, and it alone is brought again; the reference may name any of them.
    await rm(model.files[2] ?? '');
    const before = scene.hub.transfers.length;
    assert.equal((await scene.pull(`hf:o/r/${names[1]}`)).path, model.path);
    assert.deepEqual(
      scene.hub.transfers.slice(before).map(({ url }) => url),
      [`/bytes/${names[2]}?signature=secret`],
    );
  });

  it('never has parts of two versions', async () => {
    const names = [1, 2].map((part) => `m-0000${part}-of-00002.gguf`);
    await using scene = await Scene.start(Object.fromEntries(names.map((name) => [name, { bytes }])));
    const { files } = await scene.pull('hf:o/r');
    await rm(files[1] ?? '');
    for (const name of names) scene.hub.files.set(name, { bytes: other });
    await scene.pull('hf:o/r');
    for (const name of names) assert.ok((await scene.read('o/r', name)).equals(other));
  });

  it('is kept apart by revision', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    await scene.pull('hf:o/r/m.gguf');
    scene.hub.files.set('m.gguf', { bytes: other });
    const model = await scene.pull('hf:o/r/m.gguf@refs/pr/1');
    assert.equal(model.path, scene.at('o/r@refs%2Fpr%2F1/m.gguf'));
    const requests = scene.hub.seen.filter(({ server }) => server === 'hub');
    assert.equal(requests.at(-1)?.url, '/o/r/resolve/refs%2Fpr%2F1/m.gguf');
    assert.ok((await scene.read('o/r/m.gguf')).equals(bytes));
    assert.ok((await scene.read('o/r@refs%2Fpr%2F1/m.gguf')).equals(other));
  });

  it('is fetched anew when its file was cut or is gone', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    const model = await scene.pull('hf:o/r/m.gguf');
    await truncate(model.path, 50_000);
    assert.equal((await scene.pull('hf:o/r/m.gguf')).isDownloaded, true);
    assert.ok((await scene.read('o/r/m.gguf')).equals(bytes));
  });

  it('put in its place by hand is taken as it is', async () => {
    await using scene = await Scene.start();
    await mkdir(scene.at('o/r'), { recursive: true });
    await writeFile(scene.at('o/r/m.gguf'), bytes);
    assert.equal((await scene.pull('hf:o/r/m.gguf', nowhere)).isDownloaded, false);
    await writeFile(scene.at('o/r/m.gguf'), '<html>');
    await assert.rejects(scene.pull('hf:o/r/m.gguf', nowhere), failsWith('corrupt'));
  });

  it('is looked for anew when that is wanted, and replaced only by another', async () => {
    for (const told of [{}, { sha256: null }] as readonly { sha256?: null }[]) {
      await using scene = await Scene.start({ 'm.gguf': { bytes, ...told } });
      await scene.pull('hf:o/r/m.gguf');
      const before = scene.hub.transfers.length;
      assert.equal((await scene.pull('hf:o/r/m.gguf', { refresh: true })).isDownloaded, false);
      // Where the hub tells the hash, the bytes are not even asked for.
      assert.equal(scene.hub.transfers.length - before, told.sha256 === null ? 1 : 0);
      scene.hub.files.set('m.gguf', { bytes: other, etag: '"two"', ...told });
      assert.equal((await scene.pull('hf:o/r/m.gguf')).isDownloaded, false);
      assert.equal((await scene.pull('hf:o/r/m.gguf', { refresh: true })).isDownloaded, true);
      assert.ok((await scene.read('o/r/m.gguf')).equals(other));
      await assert.rejects(scene.pull('hf:o/r/m.gguf', { ...nowhere, refresh: true }), failsWith('network'));
    }
  });

  it('is not replaced by what was the newest once', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    await scene.pull('hf:o/r/m.gguf');
    // All of a second version came, but was not put in place; meanwhile there is a third.
    await writeFile(scene.at('o/r/m.gguf.part'), other);
    const source = `${scene.hub.endpoint}/o/r/resolve/main/m.gguf`;
    const note = { source, sizeBytes: other.length, sha256: sha256(other) };
    await writeFile(scene.at('o/r/m.gguf.part.json'), JSON.stringify(note));
    const newest = fakeModel(100_000, 3);
    scene.hub.files.set('m.gguf', { bytes: newest });
    await scene.pull('hf:o/r/m.gguf', { refresh: true });
    assert.ok((await scene.read('o/r/m.gguf')).equals(newest));
  });

  it('is whole when a crash came between its name and its note', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    await scene.pull('hf:o/r/m.gguf');
    await rename(scene.at('o/r/m.gguf.json'), scene.at('o/r/m.gguf.part.json'));
    assert.equal((await scene.pull('hf:o/r/m.gguf', nowhere)).isDownloaded, false);
    assert.deepEqual(await scene.names('o/r'), ['m.gguf', 'm.gguf.json']);
  });
});

describe('the list of a repository', () => {
  const entry = (name: string) => ({ type: 'file', path: name, size: bytes.length });

  it('goes on over pages, at home', async () => {
    await using scene = await Scene.start({ 'm-Q8_0.gguf': { bytes } });
    scene.hub.listing = (response, url) => {
      const isFirst = !url.searchParams.has('cursor');
      if (isFirst) response.setHeader('link', `<${url.href}&cursor=2>; rel="next"`);
      response.end(JSON.stringify([entry(isFirst ? 'm-Q4_0.gguf' : 'm-Q8_0.gguf')]));
    };
    assert.equal((await scene.pull('hf:o/r:Q8_0', { token: 'hf_x' })).path, scene.at('o/r/m-Q8_0.gguf'));
    scene.hub.listing = (response) => response.setHeader('link', `<${scene.hub.elsewhere}/>; rel="next"`).end('[]');
    await assert.rejects(scene.pull('hf:o/r:Q4_0', { token: 'hf_x' }), failsWith('network', /goes on elsewhere/));
    scene.hub.listing = (response, url) => response.setHeader('link', `<${url.href}>; rel="next"`).end('[]');
    await assert.rejects(scene.pull('hf:o/r:Q4_0'), failsWith('network', /on and on/));
  });

  it('leads nowhere outside of the store', async () => {
    await using scene = await Scene.start();
    const hostile = ['../../../m-Q8_0.gguf', '/etc/m-Q8_0.gguf', 'a/../../m-Q8_0.gguf', '..\\m-Q8_0.gguf'];
    hostile.push('m-Q8_0.gguf\0.txt');
    scene.hub.listing = (response) => response.end(JSON.stringify(hostile.map(entry)));
    await assert.rejects(scene.pull('hf:o/r:Q8_0'), failsWith('not-found', /has no GGUF files/));
  });

  it('is refused when it is malformed or without end', async () => {
    await using scene = await Scene.start();
    const wrong = ['[{"type":"file"}]', '[{"type":"file","path":"a.gguf","size":-1}]'];
    for (const body of ['', '{', '{"error":"x"}', 'null', '[1]', '<html>', ...wrong]) {
      scene.hub.listing = (response) => response.end(body);
      await assert.rejects(scene.pull('hf:o/r'), failsWith('network', /cannot be understood/), body);
    }
    let sentBytes = 0;
    scene.hub.listing = (response) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ');
      const more = () => {
        sentBytes += chunk.length;
        if (!response.destroyed) response.write(chunk, more);
      };
      more();
    };
    await assert.rejects(scene.pull('hf:o/r'), failsWith('network', /larger than 16777216 bytes/));
    assert.ok(sentBytes < 64 * 1024 * 1024);
  });

  it('that contradicts the file is believed no more than it', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    const listed = { ...entry('m.gguf'), lfs: { oid: 'ab'.repeat(32), size: bytes.length } };
    scene.hub.listing = (response) => response.end(JSON.stringify([listed]));
    await assert.rejects(scene.pull('hf:o/r'), failsWith('corrupt', /not the file that its repository lists/));
    // Where the hub tells no hash with the file, the one of the list decides.
    scene.hub.files.set('m.gguf', { bytes, sha256: null });
    await assert.rejects(scene.pull('hf:o/r'), failsWith('corrupt', /(ab){32} was announced/));
    assert.deepEqual(await scene.names('o/r'), []);
  });
});

describe('the list of a store', () => {
  it('tells what is whole and what is on its way', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes }, 'd/n.gguf': { bytes } });
    assert.deepEqual(await listModels(scene.at('none')), []);
    await writeFile(scene.at('mine.gguf'), bytes);
    await scene.pull('hf:o/r/m.gguf@v1');
    scene.hub.faults.push({ kind: 'cut', afterBytes: 30_000 });
    await assert.rejects(scene.pull('hf:o/r/d/n.gguf', { retries: 0 }));
    const { size } = await stat(scene.at('o/r/d/n.gguf.part'));
    assert.deepEqual(await listModels(scene.dir), [
      { kind: 'complete', name: 'mine.gguf', reference: scene.at('mine.gguf'), sizeBytes: 100_000 },
      { kind: 'partial', name: 'o/r/d/n.gguf', reference: 'hf:o/r/d/n.gguf', receivedBytes: size, sizeBytes: 100_000 },
      { kind: 'complete', name: 'o/r@v1/m.gguf', reference: 'hf:o/r/m.gguf@v1', sizeBytes: 100_000 },
    ]);
  });
});
