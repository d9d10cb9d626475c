// A copy of a log on a server that knows nothing of logs, read by what shares no code with the project: trees by their definition.
import assert from 'node:assert/strict';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fakeService } from './fake-service.ts';

/** Files of a folder, 404 for all else. */
export const serveFolder = (directory: string) =>
  fakeService((request, response) => {
    const file = path.join(directory, path.normalize(`/${request.url}`));
    readFile(file).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    );
  });

const sha256 = (...parts: readonly Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();

/** MTH of RFC 6962 section 2.1, over leaf hashes. */
function treeHash(hashes: readonly Buffer[]): Buffer {
  if (hashes.length < 2) return hashes[0] ?? sha256();
  let split = 1;
  while (split * 2 < hashes.length) split *= 2;
  return sha256(Buffer.of(1), treeHash(hashes.slice(0, split)), treeHash(hashes.slice(split)));
}

function entriesOf(bundle: Buffer): Buffer[] {
  const entries: Buffer[] = [];
  for (let at = 0; at < bundle.length; at += 2 + bundle.readUInt16BE(at))
    entries.push(bundle.subarray(at + 2, at + 2 + bundle.readUInt16BE(at)));
  return entries;
}

/**
 * Reads a log of less than 1,000 tiles: its checkpoint is signed by the key of 32 bytes, and every bundle and tile that it needs is
 * there and is what the leaves make. With an earlier reading, that is its beginning.
 */
export async function readStaticLog(
  base: string,
  publicKey: Uint8Array,
  before: { readonly leaves: readonly Buffer[]; readonly root: Buffer } = { leaves: [], root: sha256() },
) {
  const get = async (name: string) => {
    const response = await fetch(`${base}/${name}`);
    assert.equal(response.status, 200, name);
    return Buffer.from(await response.arrayBuffer());
  };
  /** c2sp.org/tlog-tiles. */
  const tiles = async (level: number | 'entries', count: number) => {
    const bytes: Buffer[] = [];
    for (let at = 0; at * 256 < count; at++) {
      const width = Math.min(256, count - at * 256);
      bytes.push(await get(`tile/${level}/${String(at).padStart(3, '0')}${width < 256 ? `.p/${width}` : ''}`));
    }
    return bytes;
  };
  const note = (await get('checkpoint')).toString();
  const [text = '', signatures = ''] = note.split(/(?<=\n)\n/);
  const [, size, root = ''] = text.split('\n');
  const x = Buffer.from(publicKey).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const signature = Buffer.from(/^— \S+ (\S+)/.exec(signatures)?.[1] ?? '', 'base64').subarray(4);
  assert.ok(verify(null, Buffer.from(text), key, signature), 'signed by the log');

  const leaves = (await tiles('entries', Number(size))).flatMap(entriesOf);
  let hashes: Buffer[] = leaves.map((leaf) => sha256(Buffer.of(0), leaf));
  assert.deepEqual([String(leaves.length), treeHash(hashes).toString('base64')], [size, root], 'all are in the tree');
  assert.deepEqual(treeHash(hashes.slice(0, before.leaves.length)), before.root, 'it goes on from the earlier one');
  for (let level = 0; hashes.length > 0; level++) {
    const served = Buffer.concat(await tiles(level, hashes.length));
    assert.deepEqual(served, Buffer.concat(hashes), `tiles of level ${level}`);
    const full = Array.from({ length: Math.floor(hashes.length / 256) }, (_, at) => at * 256);
    hashes = full.map((at) => treeHash(hashes.slice(at, at + 256)));
  }
  return { leaves, root: Buffer.from(root, 'base64'), note };
}
