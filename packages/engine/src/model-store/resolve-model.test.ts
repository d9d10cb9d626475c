// A store as its callers use it: by every kind of reference, with the hub and without it.
import assert from 'node:assert/strict';
import { mkdir, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { listModels, resolveModel } from '../index.ts';
import { cut, fakeModel } from '../test/fake-hub.ts';
import { failsWith, offline, REFERENCE, Scene } from '../test/scene.ts';

const bytes = fakeModel(100_000);
const other = fakeModel(100_000, 2);

it('a file of this machine is used as it is, with all its parts', async () => {
  await using scene = await Scene.start();
  const files = [1, 2].map((part) => scene.at(`m-0000${part}-of-00002.gguf`));
  for (const part of files) await writeFile(part, bytes);
  const model = { path: files[0], files, sizeBytes: 200_000, isDownloaded: false };
  for (const part of files) assert.deepEqual(await resolveModel(part, { dir: '/nowhere' }), model);
  await rm(files[1] ?? '');
  await assert.rejects(resolveModel(files[0] ?? '', { dir: '/nowhere' }), failsWith('not-found', /00002-of-00002/));
});

it('a file of this machine is refused when it is not a model', async () => {
  await using scene = await Scene.start();
  await writeFile(scene.at('page.gguf'), '<html>');
  await mkdir(scene.at('folder.gguf'));
  await assert.rejects(scene.pull(scene.at('page.gguf')), failsWith('corrupt', /not a GGUF file/));
  await assert.rejects(scene.pull(scene.at('none.gguf')), failsWith('not-found', /there is no file/));
  await assert.rejects(scene.pull(scene.at('folder.gguf')), failsWith('disk'));
});

describe('a model of a hub', () => {
  it('is found by its quantisation, and again without the hub', async () => {
    await using scene = await Scene.start({ 'm-Q4_K_M.gguf': { bytes }, 'm-Q8_0.gguf': { bytes: other } });
    const model = await scene.pull('hf:o/r:q8_0');
    assert.equal(model.path, scene.at('o/r/m-Q8_0.gguf'));
    await scene.assertHas(other, 'o/r/m-Q8_0.gguf');
    const again = { ...model, isDownloaded: false };
    for (const reference of ['hf:o/r:q8_0', 'hf:o/r:Q8_0', 'hf:o/r/m-Q8_0.gguf'])
      assert.deepEqual(await scene.pull(reference, offline), again, reference);
    // What was never fetched is not mistaken for what was.
    await assert.rejects(scene.pull('hf:o/r', offline), failsWith('network'));
    assert.equal((await scene.pull('hf:o/r')).path, scene.at('o/r/m-Q4_K_M.gguf'));
    await assert.rejects(scene.pull('hf:o/r:Q5'), failsWith('not-found', /m-Q4_K_M\.gguf, m-Q8_0\.gguf/));
    await assert.rejects(scene.pull('hf:o/r:m'), failsWith('ambiguous'));
  });

  it('comes with all its parts', async () => {
    const names = [1, 2, 3].map((part) => `Q8_0/m-0000${part}-of-00003.gguf`);
    const parts = names.map((name, at) => [name, { bytes: fakeModel(50_000, at) }]);
    await using scene = await Scene.start(Object.fromEntries(parts));
    scene.hub.faults.push({ kind: 'none' }, cut(20_000));
    const model = await scene.pull('hf:o/r:Q8_0');
    const files = names.map((name) => scene.at('o/r', name));
    assert.deepEqual([model.files, model.path, model.sizeBytes], [files, files[0], 150_000]);
    // One is deleted, and it alone is fetched again; the reference may name any of them.
    await rm(model.files[2] ?? '');
    const before = scene.hub.transfers.length;
    assert.equal((await scene.pull(`hf:o/r/${names[1]}`)).path, model.path);
    const urls = scene.hub.transfers.slice(before).map(({ url }) => url);
    assert.deepEqual(urls, [`/bytes/${names[2]}?signature=secret`]);
  });

  it('never has parts of two versions', async () => {
    const names = [1, 2].map((part) => `m-0000${part}-of-00002.gguf`);
    await using scene = await Scene.start(Object.fromEntries(names.map((name) => [name, { bytes }])));
    const { files } = await scene.pull('hf:o/r');
    await rm(files[1] ?? '');
    for (const name of names) scene.hub.files.set(name, { bytes: other });
    await scene.pull('hf:o/r');
    for (const name of names) await scene.assertHas(other, `o/r/${name}`);
  });

  it('is kept apart by revision', async () => {
    await using scene = await Scene.withModel(bytes);
    await scene.pull(REFERENCE);
    scene.hub.files.set('m.gguf', { bytes: other });
    assert.equal((await scene.pull(`${REFERENCE}@refs/pr/1`)).path, scene.at('o/r@refs%2Fpr%2F1/m.gguf'));
    const requests = scene.hub.received.filter(({ server }) => server === 'hub');
    assert.equal(requests.at(-1)?.url, '/o/r/resolve/refs%2Fpr%2F1/m.gguf');
    await scene.assertHas(bytes);
    await scene.assertHas(other, 'o/r@refs%2Fpr%2F1/m.gguf');
  });

  it('put at its path by hand is taken as it is', async () => {
    await using scene = await Scene.start();
    await mkdir(scene.at('o/r'), { recursive: true });
    await writeFile(scene.at('o/r/m.gguf'), bytes);
    assert.equal((await scene.pull(REFERENCE, offline)).isDownloaded, false);
    await writeFile(scene.at('o/r/m.gguf'), '<html>');
    await assert.rejects(scene.pull(REFERENCE, offline), failsWith('corrupt'));
  });

  it('is complete when a crash came between its name and its note, and fetched again when its file was truncated', async () => {
    await using scene = await Scene.withModel(bytes);
    await scene.pull(REFERENCE);
    await rename(scene.at('o/r/m.gguf.json'), scene.at('o/r/m.gguf.part.json'));
    assert.equal((await scene.pull(REFERENCE, offline)).isDownloaded, false);
    assert.deepEqual(await scene.names('o/r'), ['m.gguf', 'm.gguf.json']);
    await truncate(scene.at('o/r/m.gguf'), 50_000);
    assert.equal((await scene.pull(REFERENCE)).isDownloaded, true);
    await scene.assertHas(bytes);
  });
});

const entry = (name: string) => ({ type: 'file', path: name, size: bytes.length });

it('the list of a repository goes on over pages of the same hub', async () => {
  await using scene = await Scene.start({ 'm-Q8_0.gguf': { bytes } });
  scene.hub.listing = (response, url) => {
    const isFirst = !url.searchParams.has('cursor');
    if (isFirst) response.setHeader('link', `<${url.href}&cursor=2>; rel="next"`);
    response.end(JSON.stringify([entry(isFirst ? 'm-Q4_0.gguf' : 'm-Q8_0.gguf')]));
  };
  assert.equal((await scene.pull('hf:o/r:Q8_0', { token: 'hf_x' })).path, scene.at('o/r/m-Q8_0.gguf'));
  scene.hub.listing = (response) => response.setHeader('link', `<${scene.hub.elsewhere}/>; rel="next"`).end('[]');
  const refusal = failsWith('network', /continues on another server/);
  await assert.rejects(scene.pull('hf:o/r:Q4_0', { token: 'hf_x' }), refusal);
  scene.hub.listing = (response, url) => response.setHeader('link', `<${url.href}>; rel="next"`).end('[]');
  await assert.rejects(scene.pull('hf:o/r:Q4_0'), failsWith('network', /too many pages/));
});

it('the list of a repository leads nowhere outside of the store', async () => {
  await using scene = await Scene.start();
  const hostile = ['../../../m-Q8_0.gguf', '/etc/m-Q8_0.gguf', 'a/../../m-Q8_0.gguf', '..\\m-Q8_0.gguf'];
  hostile.push('m-Q8_0.gguf\0.txt');
  scene.hub.listing = (response) => response.end(JSON.stringify(hostile.map(entry)));
  await assert.rejects(scene.pull('hf:o/r:Q8_0'), failsWith('not-found', /has no GGUF files/));
});

it('the list of a repository is refused when it is malformed or without end', async () => {
  await using scene = await Scene.start();
  const wrong = ['[{"type":"file"}]', '[{"type":"file","path":"a.gguf","size":-1}]'];
  for (const body of ['', '{', '{"error":"x"}', 'null', '[1]', '<html>', ...wrong]) {
    scene.hub.listing = (response) => response.end(body);
    await assert.rejects(scene.pull('hf:o/r'), failsWith('network', /is not valid/), body);
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

it('the list of a repository that contradicts the file is believed no more than it', async () => {
  await using scene = await Scene.withModel(bytes);
  const listed = { ...entry('m.gguf'), lfs: { oid: 'ab'.repeat(32), size: bytes.length } };
  scene.hub.listing = (response) => response.end(JSON.stringify([listed]));
  await assert.rejects(scene.pull('hf:o/r'), failsWith('corrupt', /differs from the file in the repository/));
  // Where the hub gives no hash with the file, the one of the list decides.
  scene.hub.files.set('m.gguf', { bytes, sha256: null });
  await assert.rejects(scene.pull('hf:o/r'), failsWith('corrupt', /(ab){32} was announced/));
  assert.deepEqual(await scene.names('o/r'), []);
});

it('the list of a store has what is complete and what is partial', async () => {
  await using scene = await Scene.start({ 'm.gguf': { bytes }, 'd/n.gguf': { bytes } });
  assert.deepEqual(await listModels(scene.at('none')), []);
  await writeFile(scene.at('mine.gguf'), bytes);
  await scene.pull(`${REFERENCE}@v1`);
  const size = await scene.cutOff(30_000, 'd/n.gguf');
  assert.deepEqual(await listModels(scene.dir), [
    { kind: 'complete', name: 'mine.gguf', reference: scene.at('mine.gguf'), sizeBytes: 100_000 },
    { kind: 'partial', name: 'o/r/d/n.gguf', reference: 'hf:o/r/d/n.gguf', receivedBytes: size, sizeBytes: 100_000 },
    { kind: 'complete', name: 'o/r@v1/m.gguf', reference: 'hf:o/r/m.gguf@v1', sizeBytes: 100_000 },
  ]);
});

it('concurrent downloads of one file in one process: one fetches it, the other is refused', async () => {
  await using scene = await Scene.withModel(bytes);
  const outcomes = await Promise.allSettled([scene.pull(REFERENCE), scene.pull(REFERENCE)]);
  const [refused, ...further] = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  await assert.rejects(Promise.reject(refused), failsWith('busy', /m\.gguf is already being downloaded/));
  assert.deepEqual(further, []);
  assert.equal(scene.hub.transfers.length, 1);
  await scene.assertHas(bytes);
});
