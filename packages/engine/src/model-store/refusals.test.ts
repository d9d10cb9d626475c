// Hubs that refuse, fail, lie or are somebody else: every one becomes an error with words, and costs nothing that was here.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { fakeModel } from '../test/fake-hub.ts';
import { failsWith, Scene } from '../test/scene.ts';
import { nextHop } from './hub-request.ts';

const REFERENCE = 'hf:o/r/m.gguf';
const bytes = fakeModel(200_000);
const once = { retries: 0 };

describe('what is not the model', () => {
  it('is removed when its hash is another', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes, sha256: 'ab'.repeat(32) } });
    await assert.rejects(
      scene.pull(REFERENCE),
      failsWith('corrupt', /SHA-256 [0-9a-f]{64}, but (ab){32} was announced/),
    );
    assert.deepEqual(await scene.names('o/r'), []);
    assert.equal(scene.hub.transfers.length, 1, 'the same again would be no better');
  });

  it('is removed when it was begun without a hash, and has another than is told by now', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes: fakeModel(200_000, 2), sha256: null } });
    scene.hub.faults.push({ kind: 'cut', afterBytes: 100_000 });
    await assert.rejects(scene.pull(REFERENCE, once), failsWith('network'));
    scene.hub.files.set('m.gguf', { bytes });
    await assert.rejects(scene.pull(REFERENCE), failsWith('corrupt', /was announced/));
    assert.match(scene.hub.transfers.at(-1)?.range ?? '', /^bytes=[1-9]/);
    assert.deepEqual(await scene.names('o/r'), []);
  });

  it('is refused with its first bytes', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes, announcedBytes: null, sha256: null } });
    let sent = 0;
    scene.hub.faults.push({
      kind: 'raw',
      answer: (response) => {
        response.writeHead(200, { 'content-type': 'text/html' });
        const page = setInterval(() => {
          sent += 1;
          response.write('<html>Please sign in');
        }, 10);
        response.on('close', () => clearInterval(page));
      },
    });
    await assert.rejects(scene.pull(REFERENCE), failsWith('corrupt', /not a GGUF file/));
    assert.ok(sent < 10);
    assert.deepEqual(await scene.names('o/r'), []);
  });

  it('is refused by its size, before its bytes', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes, announcedBytes: 5_000_000 } });
    await assert.rejects(
      scene.pull(REFERENCE),
      failsWith('corrupt', /should have 5000000 bytes, but 200000 bytes of an unknown kind/),
    );
  });

  it('does not cost what came before', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes, announcedBytes: null } });
    scene.hub.faults.push({ kind: 'cut', afterBytes: 100_000 });
    await assert.rejects(scene.pull(REFERENCE, once), failsWith('network', /failed|broke off/));
    const { size } = await stat(scene.at('o/r/m.gguf.part'));
    for (const headers of [{}, { 'content-length': 6 }]) {
      scene.hub.faults.push({ kind: 'raw', answer: (response) => response.writeHead(200, headers).end('<html>') });
      await assert.rejects(scene.pull(REFERENCE), failsWith('corrupt'));
    }
    await scene.pull(REFERENCE, once);
    assert.equal(scene.hub.transfers.at(-1)?.range, `bytes=${size}-`);
  });

  it('is too short to tell, or packed', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes: Buffer.from('GG'), sha256: null } });
    await assert.rejects(scene.pull(REFERENCE), failsWith('corrupt', /not a GGUF file/));
    scene.hub.faults.push({
      kind: 'raw',
      answer: (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
    });
    await assert.rejects(scene.pull(REFERENCE), failsWith('network', /packed \(gzip\)/));
  });

  it('is longer than was announced', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    const longer = Buffer.concat([bytes, bytes]);
    scene.hub.faults.push({ kind: 'raw', answer: (response) => response.writeHead(200).end(longer) });
    await assert.rejects(scene.pull(REFERENCE), failsWith('corrupt', /longer than the 200000 bytes/));
    assert.deepEqual(await scene.names('o/r'), []);
  });
});

describe('a hub that refuses', () => {
  const table = [
    [401, {}, undefined, 'forbidden', /private, gated or does not exist: give a token/],
    [401, {}, 'hf_x', 'forbidden', /does not let the given token read/],
    [403, { 'x-error-code': 'GatedRepo' }, undefined, 'forbidden', /is gated: accept its terms .* give a token/],
    [403, { 'x-error-code': 'GatedRepo' }, 'hf_x', 'forbidden', /the one given is not let in/],
    [404, {}, undefined, 'not-found', /hf:o\/r\/m\.gguf was not found at 127/],
    [404, { 'x-error-code': 'RepoNotFound' }, undefined, 'not-found', /repository that does not exist/],
    [404, { 'x-error-code': 'RevisionNotFound' }, undefined, 'not-found', /revision that does not exist/],
    [400, {}, undefined, 'network', /answers 400/],
  ] as const;

  it('is understood, and not asked again', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    for (const [status, headers, token, code, words] of table) {
      scene.hub.hubFaults.push({ kind: 'status', status, headers });
      await assert.rejects(scene.pull(REFERENCE, { token }), failsWith(code, words), String(status));
    }
    assert.equal(scene.hub.seen.length, table.length);
    assert.deepEqual(await scene.names('o'), []);
  });

  it('for a while is asked again after that while', async () => {
    // A date has no fractions of seconds: between 0.8 and 1.8 s from now.
    const waits = ['1', new Date(Date.now() + 1_800).toUTCString()];
    const tookMs = waits.map(async (wait) => {
      await using scene = await Scene.start({ 'm.gguf': { bytes } });
      scene.hub.hubFaults.push({ kind: 'status', status: 429, headers: { 'retry-after': wait } });
      const startedAt = performance.now();
      await scene.pull(REFERENCE);
      return performance.now() - startedAt;
    });
    for (const took of await Promise.all(tookMs)) assert.ok(took > 700 && took < 3_000, `${took} ms`);
  });

  it('for longer than anybody waits is an error', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    scene.hub.hubFaults.push({ kind: 'status', status: 429, headers: { 'retry-after': '7200' } });
    await assert.rejects(scene.pull(REFERENCE), failsWith('network', /answers 429 .* tried again in 7200 s/));
  });

  it('by a failure of its own is asked again, and not for ever', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    scene.hub.hubFaults.push({ kind: 'status', status: 500 }, { kind: 'status', status: 503 });
    await scene.pull(REFERENCE);
    scene.hub.hubFaults.push(...Array.from({ length: 9 }, () => ({ kind: 'status', status: 502 }) as const));
    const before = scene.hub.seen.length;
    await assert.rejects(scene.pull(REFERENCE, { refresh: true, retries: 3 }), failsWith('network', /answers 502/));
    assert.equal(scene.hub.seen.length - before, 4);
  });

  it('elsewhere, where an address has run out, is gone to anew', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    scene.hub.faults.push({ kind: 'status', status: 403 });
    await scene.pull(REFERENCE);
    assert.deepEqual(
      scene.hub.seen.map(({ server }) => server),
      ['hub', 'elsewhere', 'hub', 'elsewhere'],
    );
  });

  it('to be reached is named', async () => {
    await using scene = await Scene.start();
    const nobody = { ...once, endpoint: 'http://127.0.0.1:9' };
    await assert.rejects(scene.pull(REFERENCE, nobody), failsWith('network', /127\.0\.0\.1:9/));
  });
});

describe('a redirect', () => {
  it('is not followed in circles, nor out of the web', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    const to = (location: string | undefined) =>
      ({ kind: 'status', status: 302, headers: location ? { location } : {} }) as const;
    scene.hub.hubFaults.push(...Array.from({ length: 20 }, () => to('/o/r/resolve/main/m.gguf')));
    await assert.rejects(scene.pull(REFERENCE), failsWith('network', /in circles/));
    assert.ok(scene.hub.seen.length < 12);
    scene.hub.hubFaults.length = 0;
    for (const location of ['file:///etc/passwd', 'data:,GGUF', 'http://user:pass@127.0.0.1/', 'http://[', undefined]) {
      scene.hub.hubFaults.push(to(location));
      await assert.rejects(scene.pull(REFERENCE), failsWith('network', /redirects to where/), location);
    }
  });
});

describe('the next hop', () => {
  it('keeps to encryption', () => {
    const from = new URL('https://hub.example/a/b');
    assert.equal(nextHop(from, '../c').href, 'https://hub.example/c');
    assert.equal(nextHop(from, 'https://other.example/').href, 'https://other.example/');
    assert.throws(() => nextHop(from, 'http://hub.example/a/b'), failsWith('network'));
    assert.equal(nextHop(new URL('http://hub.example/'), 'http://other.example/').href, 'http://other.example/');
  });
});

describe('settings', () => {
  it('that cannot be used are refused before anything is asked', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    for (const endpoint of ['', 'huggingface.co', 'ftp://x', 'http://a:b@x', 'http://x?y']) {
      await assert.rejects(scene.pull(REFERENCE, { endpoint }), failsWith('bad-reference', /endpoint/), endpoint);
    }
    for (const token of ['', 'a b', 'x\r\ncookie: y']) {
      await assert.rejects(scene.pull(REFERENCE, { token }), failsWith('bad-reference', /token/));
    }
    assert.deepEqual(scene.hub.seen, []);
  });
});

describe('a disk', () => {
  it('that has no room is told before the bytes come', async () => {
    const announcedBytes = 900_000_000_000_000;
    await using scene = await Scene.start({ 'm.gguf': { bytes, announcedBytes } });
    const answer = {
      kind: 'raw',
      answer: (response: ServerResponse) => response.writeHead(200, { 'content-length': announcedBytes }).write(bytes),
    } as const;
    scene.hub.faults.push(answer);
    await assert.rejects(
      scene.pull(REFERENCE),
      failsWith('disk', /the disk is full: m\.gguf needs 900\.0 TB more, and .* are free/),
    );
  });

  it('that refuses in the middle keeps what came', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    const program = path.join(import.meta.dirname, '../test/pull-process.ts');
    const command = `ulimit -f 64 && exec "$0" "$1" "$2" "$3"`;
    const args = ['-c', command, process.execPath, program, REFERENCE, JSON.stringify(scene.options())];
    const { stdout } = await promisify(execFile)('bash', args);
    assert.match(stdout, /"code":"disk","message":"write m\.gguf\.part: .* no file so large/);
    const { size } = await stat(scene.at('o/r/m.gguf.part'));
    assert.equal(size, 64 * 1024);
    await scene.pull(REFERENCE);
    assert.equal(scene.hub.transfers.at(-1)?.range, `bytes=${size}-`);
  });

  it('where a folder is in the way says so', async () => {
    await using scene = await Scene.start({ 'm.gguf': { bytes } });
    await scene.pull(REFERENCE);
    // The file of one repository is where the folder of another would be.
    scene.hub.files.set('m.gguf/n.gguf', { bytes });
    await assert.rejects(scene.pull('hf:o/r/m.gguf/n.gguf'), failsWith('disk', /a file is in the way/));
  });
});
