// Hubs that refuse, fail or send something else: each becomes an error with a message, and discards nothing that was kept.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { type FakeFile, type Fault, fakeModel, raw, status } from '../test/fake-hub.ts';
import { failsWith, once, REFERENCE, Scene } from '../test/scene.ts';
import type { ModelStoreErrorCode } from './error.ts';
import { nextHop } from './hub-request.ts';

const bytes = fakeModel(200_000);
const start = (file?: Partial<FakeFile>) => Scene.withModel(bytes, file);
const sends = (headers: Record<string, string | number>, body: Buffer | string) =>
  raw((response) => response.writeHead(200, headers).end(body));

describe('what is not the model', () => {
  const page = sends({}, Buffer.concat([bytes, bytes]));
  const packed = sends({ 'content-encoding': 'gzip' }, 'x');
  const large = /should have 5000000 bytes, but the server offers 200000 bytes of an unknown content type/;
  type Case = [name: string, file: Partial<FakeFile>, code: 'corrupt' | 'network', message: RegExp, fault?: Fault];
  const cases: Case[] = [
    ['has another hash', { sha256: 'ab'.repeat(32) }, 'corrupt', /SHA-256 [0-9a-f]{64}, but (ab){32} was announced/],
    ['has another size than announced', { announcedBytes: 5_000_000 }, 'corrupt', large],
    ['is too short to have a type', { bytes: Buffer.from('GG'), sha256: null }, 'corrupt', /not a GGUF file/],
    ['is compressed', {}, 'network', /content encoding gzip/, packed],
    ['is longer than announced', {}, 'corrupt', /longer than the announced 200000 bytes/, page],
  ];
  for (const [name, file, code, message, fault] of cases)
    it(`is removed where it ${name}, and not asked for again`, async () => {
      await using scene = await start(file);
      if (fault) scene.hub.faults.push(fault);
      await assert.rejects(scene.pull(REFERENCE, code === 'network' ? once : {}), failsWith(code, message));
      assert.deepEqual(await scene.names('o/r'), []);
      assert.equal(scene.hub.transfers.length, 1);
    });

  it('is removed when it was begun without a hash, and the hub now gives another', async () => {
    await using scene = await Scene.withModel(fakeModel(200_000, 2), { sha256: null });
    await scene.cutOff(100_000);
    scene.hub.files.set('m.gguf', { bytes });
    await assert.rejects(scene.pull(REFERENCE), failsWith('corrupt', /was announced/));
    assert.match(scene.hub.transfers.at(-1)?.range ?? '', /^bytes=[1-9]/);
    assert.deepEqual(await scene.names('o/r'), []);
  });

  it('is refused with its first bytes', async () => {
    await using scene = await start({ announcedBytes: null, sha256: null });
    let sent = 0;
    const endless = raw((response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      const timer = setInterval(() => response.write('<html>Please sign in', () => sent++), 10);
      response.on('close', () => clearInterval(timer));
    });
    scene.hub.faults.push(endless);
    await assert.rejects(scene.pull(REFERENCE), failsWith('corrupt', /not a GGUF file/));
    assert.ok(sent < 10);
    assert.deepEqual(await scene.names('o/r'), []);
  });

  it('does not discard what came before', async () => {
    await using scene = await start({ announcedBytes: null });
    const size = await scene.cutOff(100_000);
    for (const headers of [{}, { 'content-length': 6 }] as Record<string, number>[]) {
      scene.hub.faults.push(sends(headers, '<html>'));
      await assert.rejects(scene.pull(REFERENCE), failsWith('corrupt'));
    }
    await scene.pull(REFERENCE, once);
    assert.equal(scene.hub.transfers.at(-1)?.range, `bytes=${size}-`);
  });
});

describe('a hub that refuses', () => {
  type Refused = [number, Record<string, string>, token: string | null, ModelStoreErrorCode, message: string];
  const table = casesOf<Refused[]>('engine', 'refusals of hubs');
  it('is understood, and asked only once', async () => {
    await using scene = await start();
    for (const [number, headers, token, code, message] of table) {
      scene.hub.hubFaults.push(status(number, headers));
      const expected = failsWith(code, new RegExp(message));
      await assert.rejects(scene.pull(REFERENCE, { token: token ?? undefined }), expected, String(number));
    }
    assert.equal(scene.hub.received.length, table.length);
    assert.deepEqual(await scene.names('o'), []);
  });

  it('with a failure of its own is asked again, up to the limit', async () => {
    await using scene = await start();
    scene.hub.hubFaults.push(status(500), status(503));
    await scene.pull(REFERENCE);
    scene.hub.hubFaults.push(...Array.from({ length: 9 }, () => status(502)));
    const before = scene.hub.received.length;
    await assert.rejects(scene.pull(`${REFERENCE}@other`, { retries: 3 }), failsWith('network', /answers 502/));
    assert.equal(scene.hub.received.length - before, 4);
  });

  it('at another origin, whose signed address has expired, is requested from the hub again', async () => {
    await using scene = await start();
    scene.hub.faults.push(status(403));
    await scene.pull(REFERENCE);
    const servers = scene.hub.received.map(({ server }) => server);
    assert.deepEqual(servers, ['hub', 'elsewhere', 'hub', 'elsewhere']);
  });
});

it('a download follows no redirect in circles, nor out of HTTP', async () => {
  await using scene = await start();
  const to = (location: string | undefined) => status(302, location ? { location } : {});
  scene.hub.hubFaults.push(...Array.from({ length: 20 }, () => to('/o/r/resolve/main/m.gguf')));
  await assert.rejects(scene.pull(REFERENCE), failsWith('network', /too many redirects/));
  assert.ok(scene.hub.received.length < 12);
  scene.hub.hubFaults.length = 0;
  for (const location of ['file:///etc/passwd', 'data:,GGUF', 'http://user:pass@127.0.0.1/', 'http://[', undefined]) {
    scene.hub.hubFaults.push(to(location));
    const refusal = failsWith('network', /redirects to an address that is not allowed/);
    await assert.rejects(scene.pull(REFERENCE), refusal, location);
  }
});

it('a download keeps encryption in redirects', () => {
  const from = new URL('https://hub.example/a/b');
  assert.equal(nextHop(from, '../c').href, 'https://hub.example/c');
  assert.equal(nextHop(from, 'https://other.example/').href, 'https://other.example/');
  assert.throws(() => nextHop(from, 'http://hub.example/a/b'), failsWith('network'));
  assert.equal(nextHop(new URL('http://hub.example/'), 'http://other.example/').href, 'http://other.example/');
});

it('a download is refused before any request where its settings cannot be used', async () => {
  await using scene = await start();
  for (const endpoint of ['', 'huggingface.co', 'ftp://x', 'http://a:b@x', 'http://x?y'])
    await assert.rejects(scene.pull(REFERENCE, { endpoint }), failsWith('bad-reference', /endpoint/), endpoint);
  for (const token of ['', 'a b', 'x\r\ncookie: y'])
    await assert.rejects(scene.pull(REFERENCE, { token }), failsWith('bad-reference', /token/));
  assert.deepEqual(scene.hub.received, []);
});

it('a download ends before the bytes arrive where the disk lacks space', async () => {
  const announcedBytes = 900_000_000_000_000;
  await using scene = await start({ announcedBytes });
  scene.hub.faults.push(raw((answer) => answer.writeHead(200, { 'content-length': announcedBytes }).write(bytes)));
  const full = /the disk is full: m\.gguf needs 900\.0 TB more, and .* are free/;
  await assert.rejects(scene.pull(REFERENCE), failsWith('disk', full));
});

it('a download reports a file where a folder is needed', async () => {
  await using scene = await start();
  await scene.pull(REFERENCE);
  // The file of one repository is where the folder of another would be.
  scene.hub.files.set('m.gguf/n.gguf', { bytes });
  await assert.rejects(scene.pull('hf:o/r/m.gguf/n.gguf'), failsWith('disk', /a file has the path of a directory/));
});
