import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { assertEnds, jsonOf, succeed, temporaryDirectory } from '../test/run-strata.ts';

const set = {
  Acme: {
    ...{ cats: [10], website: 'https://acme.example', headers: { 'x-acme': '([\\d.]+)\\;version:\\1' } },
    ...{ js: { acme: '' }, dns: { '\u001b]0;x\u0007': 'x' } },
  },
  WordPress: { cats: [1], website: 'https://wordpress.org', scriptSrc: ['/wp-acme/', '\u001b31m(?=red)'] },
  Hidden: { cats: [1], website: 'https://hidden.example', js: { hidden: '' } },
};

describe('strata stack fingerprints', () => {
  it('shows what a set holds and what of it is refused, without steering the terminal; explain detects with it', async () => {
    await using folder = await temporaryDirectory();
    const file = path.join(folder.path, 'own.json');
    await writeFile(file, JSON.stringify(set));
    const { stdout } = await assertEnds(`stack fingerprints ${folder.path}`, 0, /^$/);
    for (const line of [
      ...['technologies +3', 'of them usable +2', 'known to the catalog +1', 'patterns refused +1', 'js 2'],
      ...['dns\\.other 1', 'nothing usable: Hidden', 'WordPress +scriptSrc +look-around'],
    ])
      assert.match(stdout, new RegExp(line));
    assert.ok(!stdout.includes('\u001b'));

    const { problems, ...report } = await jsonOf(`stack fingerprints --json ${file}`);
    const merges = [{ technology: 'WordPress', provider: 'wordpress', by: 'name' }];
    const counts = { technologies: 3, usable: 2, addedProviders: 2, needsSource: false };
    assert.partialDeepStrictEqual(report, { ...counts, merges });
    assert.deepEqual([problems.length, problems[0].technology], [1, 'WordPress']);

    const input = '{"domain": "example.com", "headers": {"x-acme": "1.2.3"}}\n';
    const explained = await jsonOf(`stack explain --fingerprints ${file}`, { input });
    const [service] = explained.services;
    assert.deepEqual([service.provider, service.provider_id, service.version], ['Acme', 'acme', '1.2.3']);
    assert.deepEqual(await jsonOf('stack explain', { input, env: { STRATA_FINGERPRINTS: file } }), explained);
    assert.deepEqual(JSON.parse((await succeed('stack explain', { input })).stdout).services, []);
  });
});
