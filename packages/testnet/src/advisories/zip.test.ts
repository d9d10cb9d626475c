import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { unzip } from '../test/reading.ts';
import { writeZip } from './zip.ts';

describe('a zip', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'zip-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it('holds what was put in, and a file that is a zip already', async () => {
    const inner = await writeZip(path.join(directory, 'inner.zip'), [
      { name: 'a/b.json', contents: '{"naïve":true}' },
      { name: 'empty', contents: '' },
    ]);
    const outer = await writeZip(path.join(directory, 'outer.zip'), [{ name: 'inner.zip', file: inner }]);
    const bytes = await readFile(outer.path);
    assert.deepEqual([outer.sizeBytes, outer.crc], [bytes.length, crc32(bytes)]);
    const files = unzip(unzip(bytes).get('inner.zip')?.() ?? Buffer.alloc(0));
    const contents = [...files].map(([name, read]) => [name, String(read())]);
    assert.deepEqual(contents, [
      ['a/b.json', '{"naïve":true}'],
      ['empty', ''],
    ]);
  });

  it('of more files than an old end record can count has a zip64 one', async () => {
    const entries = ['a', 'b', 'c'].map((name) => ({ name, contents: name }));
    const few = await writeZip(path.join(directory, 'few.zip'), entries, { zip64Entries: 4 });
    assert.equal((await readFile(few.path)).includes('PK\x06\x06', 0, 'latin1'), false);
    const many = await writeZip(path.join(directory, 'many.zip'), entries, { zip64Entries: 3 });
    const bytes = await readFile(many.path);
    const [end64, locator, end] = [98, 42, 22].map((back) => bytes.subarray(bytes.length - back));
    assert.equal(end64?.toString('latin1', 0, 4), 'PK\x06\x06');
    assert.equal(end64?.readBigUInt64LE(32), 3n);
    assert.equal(locator?.toString('latin1', 0, 4), 'PK\x06\x07');
    assert.equal(Number(locator?.readBigUInt64LE(8)), bytes.length - 98);
    assert.deepEqual([end?.readUInt16LE(8), end?.readUInt16LE(10)], [0xffff, 0xffff]);
    assert.equal(String(unzip(bytes).get('c')?.()), 'c');
  });
});
