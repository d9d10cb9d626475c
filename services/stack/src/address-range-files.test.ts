import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { entries } from '@strata/catalog';
import { loadCatalog } from '@strata/detect';
import { describeRanges, readAddressRanges } from './address-range-files.ts';
import { readConfig } from './config.ts';
import { openRulebook } from './open-rulebook.ts';

const catalog = loadCatalog(entries);
const read = (...paths: string[]) => readAddressRanges(paths, catalog);

describe('STRATA_ADDRESS_RANGES', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'ranges-'));
  });
  after(async () => rm(folder, { recursive: true, force: true }));

  /** A folder of its own with these files. */
  async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
    const made = await mkdtemp(path.join(folder, 'some-'));
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(made, name), text);
    return made;
  }

  it('is none by default, and a list of files and folders', async () => {
    assert.deepEqual(readConfig({ STRATA_ADDRESS_RANGES: '/a/ips-v4, /b' }).addressRanges, ['/a/ips-v4', '/b']);
    assert.equal(await read(), undefined);
  });

  it('reads files, and all of a folder but hidden files and folders', async () => {
    const files = { 'ips-v4': '192.0.2.0/24', '.ranges.swp': 'x', 'linode.csv': '198.51.100.0/24,DE,,,' };
    const some = await folderWith(files);
    await mkdir(path.join(some, 'older'));
    const one = await folderWith({ 'own.csv': 'hetzner,203.0.113.0/24' });
    const ranges = await read(some, path.join(one, 'own.csv'));
    assert.ok(ranges);
    const found = ['192.0.2.1', '198.51.100.1', '203.0.113.1'].map((address) => ranges.find(address)?.provider);
    assert.deepEqual(found, ['cloudflare', 'linode', 'hetzner']);
    assert.deepEqual(describeRanges(ranges), {
      files: [
        { name: 'ips-v4', format: 'list', ranges: 1, ignored: 0 },
        { name: 'linode.csv', format: 'list', ranges: 1, ignored: 0 },
        { name: 'own.csv', format: 'own', ranges: 1, ignored: 0 },
      ],
      ranges: 3,
      providers: ['cloudflare', 'hetzner', 'linode'],
      sizeBytes: ranges.sizeBytes,
    });
  });

  it('makes another rulebook, for the service and for every scan without it', async () => {
    const some = await folderWith({ 'ips-v4': '192.0.2.0/24' });
    const [plain, ranged] = await Promise.all(
      [[], [some]].map((addressRanges) => openRulebook({ sectorsFile: undefined, addressRanges })),
    );
    assert.equal(ranged?.ranges?.find('192.0.2.1')?.provider, 'cloudflare');
    assert.notEqual(ranged?.version, plain?.version);
  });

  it('stops the start with every problem of the files', async () => {
    const some = await folderWith({ 'a.csv': 'hetzner,203.0.113.1/24', 'b.json': '{}' });
    await assert.rejects(read(some), {
      name: 'StartError',
      message: /2 problem\(s\):\n {2}a\.csv line 1: '203\.0\.113\.1\/24' has bits.*\n {2}b\.json is of no.*_RANGES$/s,
    });
  });

  it('stops the start where a file is not there, too large, or one of too many', async () => {
    await assert.rejects(read(path.join(folder, 'gone')), {
      name: 'StartError',
      message: /cannot read the address ranges at .*gone: it does not exist; see STRATA_ADDRESS_RANGES$/,
    });
    const giant = path.join(await folderWith({ 'ips-v4': '' }), 'ips-v4');
    await truncate(giant, 32 * 1024 * 1024 + 1);
    await assert.rejects(read(giant), { name: 'StartError', message: /has 33554433 bytes, more than 33554432/ });
    await assert.rejects(read(...new Array(257).fill(giant)), { name: 'StartError', message: /more than 256 files/ });
  });
});
