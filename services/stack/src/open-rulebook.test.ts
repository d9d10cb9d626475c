// The operator's additions to the rulebook: read completely or not at all, and a sentence that says what to fix.
import assert from 'node:assert/strict';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openRulebook } from './open-rulebook.ts';
import { StartError } from './start-error.ts';

describe('STRATA_SECTORS', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'strata-rulebook-'));
  });
  after(() => rm(folder, { recursive: true }));
  const listed = async (text: string) => {
    const sectorsFile = path.join(folder, 'sectors.csv');
    await writeFile(sectorsFile, text);
    return (await openRulebook({ sectorsFile })).sectors;
  };

  it('is a CSV with a heading, comments, quotes and blank lines, or none of them', async () => {
    const text = '\ufeffdomain,sector\r\n# ours\r\n\r\n"example.com","health"\r\nexample.org , media\r\n';
    assert.deepEqual(Object.fromEntries(await listed(text)), { 'example.com': 'health', 'example.org': 'media' });
    assert.equal((await listed('example.com,health')).size, 1);
    assert.equal((await openRulebook({ sectorsFile: undefined })).sectors.size, 0);
  });

  it('with a row that cannot be used stops the start and says which', async () => {
    for (const [text, message] of [
      ['example.com,health\nexample.org,wealth\n', /row 2: 'wealth' is no sector; they are unknown, computer_it/],
      ['example.com;health\n', /row 1: 'example.com;health' is no domain/],
      ['"example.com,health\n', /Quote Not Closed/],
    ] as const)
      await assert.rejects(listed(text), { name: 'StartError', message }, text);
  });

  it('that is not there, or too large, stops the start', async () => {
    const missing = path.join(folder, 'missing.csv');
    await assert.rejects(openRulebook({ sectorsFile: missing }), /it does not exist; see STRATA_SECTORS/);
    const large = path.join(folder, 'large.csv');
    await writeFile(large, '');
    await truncate(large, 65 * 1024 * 1024);
    await assert.rejects(openRulebook({ sectorsFile: large }), StartError);
  });
});
