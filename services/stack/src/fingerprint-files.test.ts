import assert from 'node:assert/strict';
import { mkdir, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { explainRecord } from '@strata/detect';
import { pino } from 'pino';
import { readConfig } from './config.ts';
import { readFingerprintFiles } from './fingerprint-files.ts';
import { loadFingerprints } from './load-fingerprints.ts';
import { openRulebook } from './open-rulebook.ts';

const technologies = (name: string) => ({
  [name]: { cats: [1], website: 'https://x.example', headers: { [`x-${name}`]: '' }, html: `<i>${name}` },
});

describe('files of fingerprints', () => {
  let folder: string;
  const at = (...parts: string[]) => path.join(folder, ...parts);
  const write = (name: string, content: unknown) =>
    writeFile(at(name), typeof content === 'string' ? content : JSON.stringify(content));

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fingerprints-'));
    for (const name of ['public/technologies', 'flat', 'empty']) await mkdir(at(name), { recursive: true });
    await write('public/technologies/b.json', technologies('our-beta'));
    await write('public/technologies/a.json', `\ufeff${JSON.stringify(technologies('our-alpha'))}`);
    await write('public/technologies/readme.md', 'no JSON');
    await write('public/categories.json', { 1: { name: 'Live chat' } });
    await write('public/groups.json', {});
    await write('public/package.json', { name: 'not a set' });
    await write('flat/own.json', technologies('our-gamma'));
    await write('broken.json', '{"a": ');
    await write('unusable.json', { 'Bad\u001b[31m': { cats: [1] } });
    await mkdir(at('odd', 'folder.json'), { recursive: true });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('are those of a folder in the public shape, of a flat one, or a single one, in an order that is always the same', async () => {
    const { files, sizeBytes } = await readFingerprintFiles([at('public'), at('flat'), at('flat', 'own.json')]);
    const names = files.map(({ name }) => path.relative(folder, name));
    const ofPublic = ['public/categories.json', 'public/technologies/a.json', 'public/technologies/b.json'];
    assert.deepEqual(names, [...ofPublic, 'flat/own.json', 'flat/own.json']);
    assert.ok(sizeBytes > 100);
  });

  it('are named when they are missing, empty, broken or of no use', async () => {
    for (const [paths, message] of [
      [[at('none.json')], /read the fingerprints .*none\.json: it does not exist/],
      [[at('empty')], /folder .*empty has no fingerprints/],
      [[at('flat'), at('broken.json')], /broken\.json are no JSON/],
      [[at('odd')], /folder\.json are no file/],
      [['/dev/zero'], /zero are no file/],
      [[at('unusable.json')], /unusable\.json can be used: .*unusable\.json: Bad\ufffd\[31m website/],
    ] as const)
      await assert.rejects(loadFingerprints(paths), { name: 'StartError', message });
  });

  it('are not read when they are too large, by themselves or behind a link', async () => {
    const file = await open(at('huge.json'), 'w');
    await file.truncate(100 * 1024 * 1024);
    await file.close();
    await symlink(at('huge.json'), at('link.json'));
    for (const name of ['huge.json', 'link.json']) {
      const before = process.memoryUsage().arrayBuffers;
      await assert.rejects(readFingerprintFiles([at(name)]), {
        name: 'StartError',
        message: new RegExp(`${name} are larger than 32 MiB`),
      });
      assert.ok(process.memoryUsage().arrayBuffers - before < 16 * 1024 * 1024);
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
    assert.deepEqual(
      lines.map((line) => ({ ...line, ms: typeof line.ms })),
      [expected],
    );
    assert.equal((await openRulebook(readConfig({}))).sets, undefined);
  });
});
