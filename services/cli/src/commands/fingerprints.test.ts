import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runStrata } from '../test/run-strata.ts';

describe('strata stack fingerprints', () => {
  let folder: string;
  let file: string;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fingerprints-'));
    file = path.join(folder, 'own.json');
    const set = {
      Acme: {
        cats: [10],
        website: 'https://acme.example',
        headers: { 'x-acme': '([\\d.]+)\\;version:\\1' },
        js: { acme: '' },
        dns: { '\u001b]0;x\u0007': 'x' },
      },
      WordPress: { cats: [1], website: 'https://wordpress.org', scriptSrc: ['/wp-acme/', '\u001b31m(?=red)'] },
      Hidden: { cats: [1], website: 'https://hidden.example', js: { hidden: '' } },
    };
    await writeFile(file, JSON.stringify(set));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('tells what a set holds and what of it is refused, without steering the terminal', async () => {
    const { code, stdout, stderr } = await runStrata(['stack', 'fingerprints', folder]);
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
    ]) {
      assert.match(stdout, line);
    }
    assert.ok(!stdout.includes('\u001b'));
  });

  it('tells it as JSON', async () => {
    const { code, stdout } = await runStrata(['stack', 'fingerprints', '--json', file]);
    const report = JSON.parse(stdout);
    const wordpress = { technology: 'WordPress', provider: 'wordpress', by: 'name' };
    assert.equal(code, 0);
    assert.deepEqual(
      [report.technologies, report.usable, report.merges, report.addedProviders],
      [3, 2, [wordpress], 2],
    );
    assert.deepEqual(
      [report.problems.length, report.problems[0].technology, report.needsSource],
      [1, 'WordPress', false],
    );
  });

  it('fails where a path is wrong, and says which', async () => {
    const { code, stderr } = await runStrata(['stack', 'fingerprints', path.join(folder, 'none')]);
    assert.equal(code, 1);
    assert.match(stderr, /^strata: cannot read the fingerprints .*none: it does not exist/);
  });

  it('is what explain detects with', async () => {
    const input = '{"domain": "example.com", "headers": {"x-acme": "1.2.3"}}\n';
    const { stdout } = await runStrata(['stack', 'explain', '--fingerprints', file], { input });
    const [service] = JSON.parse(stdout).services;
    assert.deepEqual([service.provider, service.provider_id, service.version], ['Acme', 'acme', '1.2.3']);
    const { stdout: without } = await runStrata(['stack', 'explain'], { input });
    assert.deepEqual(JSON.parse(without).services, []);
  });
});
