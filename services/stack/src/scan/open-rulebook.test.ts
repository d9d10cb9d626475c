// The operator's additions to the rulebook: read completely or not at all, and a sentence that says what to fix.

import assert from 'node:assert/strict';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { explainRecord } from '@strata/detect';
import { pino } from 'pino';
import { casesOf, shared, temporaryDirectory } from '../../../../tests/support/index.ts';
import { bundledCatalog } from '../catalog/catalog.ts';
import { readConfig } from '../config.ts';
import { company, sharedInternet, startHarness } from '../test/index.ts';
import { describeRanges, readAddressRanges } from './address-range-files.ts';
import { loadFingerprints, readFingerprintFiles } from './fingerprint-files.ts';
import { openRulebook } from './open-rulebook.ts';

const MIB = 1024 * 1024;
const folder = await shared(temporaryDirectory)();
const at = (name: string) => path.join(folder.path, name);

/** A file with this text, this JSON, or so many empty bytes. */
async function write(name: string, content: unknown): Promise<string> {
  await mkdir(path.dirname(at(name)), { recursive: true });
  await writeFile(at(name), typeof content === 'string' ? content : JSON.stringify(content));
  if (typeof content === 'number') await truncate(at(name), content);
  return at(name);
}

const listed = async (content: unknown) =>
  (await openRulebook({ sectorsFile: await write('sectors.csv', content) })).sectors;

it('STRATA_SECTORS is a CSV with a heading, comments, quotes and blank lines, or none of them', async () => {
  const text = '\ufeffdomain,sector\r\n# ours\r\n\r\n"example.com","health"\r\nexample.org , media\r\n';
  assert.deepEqual(Object.fromEntries(await listed(text)), { 'example.com': 'health', 'example.org': 'media' });
  assert.equal((await listed('example.com,health')).size, 1);
  assert.equal((await openRulebook({ sectorsFile: undefined })).sectors.size, 0);
});

it('STRATA_SECTORS that cannot be used stops the start and says which row, or why', async () => {
  for (const [content, text] of casesOf<[unknown, string][]>('stack', 'unusable lists of sectors'))
    await assert.rejects(listed(content), { name: 'StartError', message: new RegExp(text) });
  await assert.rejects(openRulebook({ sectorsFile: at('missing') }), /it does not exist; see STRATA_SECTORS/);
});

const read = (...names: string[]) => readAddressRanges(names.map(at), bundledCatalog());

it('STRATA_ADDRESS_RANGES is empty by default, and a list of files and folders', async () => {
  assert.deepEqual(readConfig({ STRATA_ADDRESS_RANGES: '/a/ips-v4, /b' }).addressRanges, ['/a/ips-v4', '/b']);
  assert.equal(await read(), undefined);
});

it('STRATA_ADDRESS_RANGES reads files, and all of a folder but hidden files and folders', async () => {
  await write('some/ips-v4', '192.0.2.0/24');
  await write('some/.ranges.swp', 'x');
  await write('some/linode.csv', '198.51.100.0/24,DE,,,');
  await write('some/older/x', 'x');
  await write('own.csv', 'hetzner,203.0.113.0/24');
  const ranges = (await read('some', 'own.csv')) ?? assert.fail();
  const found = ['192.0.2.1', '198.51.100.1', '203.0.113.1'].map((address) => ranges.find(address)?.provider);
  assert.deepEqual(found, ['cloudflare', 'linode', 'hetzner']);
  const file = (name: string, format = 'list') => ({ name, format, ranges: 1, ignored: 0 });
  const files = [file('ips-v4'), file('linode.csv'), file('own.csv', 'own')];
  const providers = ['cloudflare', 'hetzner', 'linode'];
  assert.deepEqual(describeRanges(ranges), { files, ranges: 3, providers, sizeBytes: ranges.sizeBytes });
});

it('STRATA_ADDRESS_RANGES makes another rulebook, for the service and for every scan without it', async () => {
  const ranged = await openRulebook({ addressRanges: [await write('ranges/ips-v4', '192.0.2.0/24')] });
  assert.equal(ranged.ranges?.find('192.0.2.1')?.provider, 'cloudflare');
  assert.notEqual(ranged.version, (await openRulebook({ addressRanges: [] })).version);
});

it('STRATA_ADDRESS_RANGES stops the start with every problem of the files: missing, too large, or too many ones too', async () => {
  await write('bad/a.csv', 'hetzner,203.0.113.1/24');
  await write('bad/b.json', '{}');
  await write('giant', 32 * MIB + 1);
  for (const [name, text, times] of casesOf<[string, string, number][]>('stack', 'unusable address ranges'))
    await assert.rejects(read(...Array(times).fill(name)), { name: 'StartError', message: new RegExp(text) });
});

describe('STRATA_FINGERPRINTS', () => {
  before(async () => {
    const files = casesOf<Record<string, unknown>>('stack', 'files of fingerprints');
    for (const [name, content] of Object.entries(files)) await write(name, content);
    await symlink(at('huge.json'), at('link.json'));
    await symlink('/dev/zero', at('zero.json'));
    for (const name of ['empty', 'odd/folder.json']) await mkdir(at(name), { recursive: true });
  });

  it('are those of a folder in the public shape, of a flat one, or a single one, always in one order', async () => {
    const { files, sizeBytes } = await readFingerprintFiles(['public', 'flat', 'flat/own.json'].map(at));
    const names = files.map(({ name }) => path.relative(folder.path, name));
    const ofPublic = ['public/categories.json', 'public/technologies/a.json', 'public/technologies/b.json'];
    assert.deepEqual(names, [...ofPublic, 'flat/own.json', 'flat/own.json']);
    assert.ok(sizeBytes > 100);
  });

  it('are named when they are missing, empty, broken or of no use; what is too large is not read', async () => {
    for (const [names, text] of casesOf<[string, string][]>('stack', 'unusable fingerprints')) {
      const before = process.memoryUsage().arrayBuffers;
      const error = { name: 'StartError', message: new RegExp(text) };
      await assert.rejects(loadFingerprints(names.split(' ').map(at)), error);
      assert.ok(process.memoryUsage().arrayBuffers - before < 16 * MIB);
    }
  });

  it('make the rulebook that the settings ask for, and one line of the log', async () => {
    const lines: Record<string, unknown>[] = [];
    const logger = pino({ base: null, timestamp: false }, { write: (line: string) => lines.push(JSON.parse(line)) });
    const config = readConfig({ STRATA_FINGERPRINTS: `${at('public')}, ${at('flat')} ,` });
    assert.deepEqual(config.fingerprints, [at('public'), at('flat')]);
    const rulebook = await openRulebook(config, undefined, logger);
    const record = { domain: 'example.com', headers: { 'x-our-alpha': '1' }, html: '<i>our-beta' };
    const found = explainRecord(record, rulebook).services.map(({ provider_id }) => provider_id);
    assert.deepEqual(found, ['our-alpha', 'our-beta']);
    assert.deepEqual(rulebook.providers.get('our-alpha')?.kinds, ['live-chat']);
    const counts = { technologies: 3, usable: 3, merged: 0, refusedPatterns: 0, badEntries: 0, mebibytes: 0 };
    const expected = { level: 30, ...counts, ms: 'number', msg: 'community fingerprints loaded' };
    const logged = lines.map((line) => ({ ...line, ms: typeof line.ms }));
    assert.deepEqual(logged, [expected]);
    assert.equal((await openRulebook(readConfig({}))).sets, undefined);
  });

  it('reach the profile that clients read: the probe keeps the source, detection matches, the API says', async () => {
    const html = '<(?:html|head|body|title)';
    await write('page/own.json', { 'Any Page': { cats: [19], website: 'https://any-page.example', html: [html] } });
    const internet = await sharedInternet();
    await using service = await startHarness({ internet, settings: { STRATA_FINGERPRINTS: at('page') } });
    const name = company(internet, 1);
    await service.scan(name);
    const { services } = (await service.get(`/stack/v1/domains/${name}`)).body;
    const found = (services as Record<string, unknown>[]).find(({ provider_id }) => provider_id === 'any-page');
    const [evidence] = (found?.evidence ?? []) as { readonly rule: string; readonly value: string }[];
    assert.deepEqual([found?.provider, evidence?.rule], ['Any Page', `any-page/html/set:html:${html}`]);
    assert.match(evidence?.value ?? '', /^<(?:!doctype )?(?:html|head|body|title)/i);
  });
});
