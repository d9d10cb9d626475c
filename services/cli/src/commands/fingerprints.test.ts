import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { runStrata, temporaryDirectory } from '../test/run-strata.ts';

const set = {
  Acme: {
    ...{ cats: [10], website: 'https://acme.example', headers: { 'x-acme': '([\\d.]+)\\;version:\\1' } },
    ...{ js: { acme: '' }, dns: { '\u001b]0;x\u0007': 'x' } },
  },
  WordPress: { cats: [1], website: 'https://wordpress.org', scriptSrc: ['/wp-acme/', '\u001b31m(?=red)'] },
  Hidden: { cats: [1], website: 'https://hidden.example', js: { hidden: '' } },
};

describe('strata stack fingerprints', () => {
  it('tells what a set holds and what of it is refused, without steering the terminal; explain detects with it', async () => {
    await using folder = await temporaryDirectory();
    const file = path.join(folder.path, 'own.json');
    await writeFile(file, JSON.stringify(set));
    const { code, stdout, stderr } = await runStrata(['stack', 'fingerprints', folder.path]);
    assert.deepEqual([code, stderr], [0, '']);
    for (const line of [
      /technologies +3/,
      /of them usable +2/,
      /known to the catalog +1/,
      /patterns refused +1/,
      /js 2/,
      /dns\.other 1/,
      /nothing usable: Hidden/,
      /WordPress +scriptSrc +look-around/,
    ])
      assert.match(stdout, line);
    assert.ok(!stdout.includes('\u001b'));

    const report = JSON.parse((await runStrata(['stack', 'fingerprints', '--json', file])).stdout);
    const wordpress = { technology: 'WordPress', provider: 'wordpress', by: 'name' };
    assert.deepEqual(
      [report.technologies, report.usable, report.merges, report.addedProviders, report.needsSource],
      [3, 2, [wordpress], 2, false],
    );
    assert.deepEqual([report.problems.length, report.problems[0].technology], [1, 'WordPress']);

    const input = '{"domain": "example.com", "headers": {"x-acme": "1.2.3"}}\n';
    const explained = await runStrata(['stack', 'explain', '--fingerprints', file], { input });
    const [service] = JSON.parse(explained.stdout).services;
    assert.deepEqual([service.provider, service.provider_id, service.version], ['Acme', 'acme', '1.2.3']);
    const byVariable = await runStrata(['stack', 'explain'], { input, env: { STRATA_FINGERPRINTS: file } });
    assert.equal(byVariable.stdout, explained.stdout);
    const without = await runStrata(['stack', 'explain'], { input });
    assert.deepEqual(JSON.parse(without.stdout).services, []);
  });

  it('fails where a path is wrong, and says which', async () => {
    const { code, stderr } = await runStrata(['stack', 'fingerprints', '/nowhere/none']);
    assert.equal(code, 1);
    assert.match(stderr, /^strata: cannot read the fingerprints .*none: it does not exist/);
  });
});
