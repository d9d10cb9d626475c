// Segments and comparisons from the command line, against a real service.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { liveService } from '../../test/live-service.ts';
import { assertEnds } from '../../test/run-strata.ts';

describe('strata stack segment and compare', async () => {
  const { base, key, domain, running } = await liveService();
  await fetch(`${base}/stack/v1/domains/${domain}`, { headers: { 'x-stack-key': key } });
  await running.updateLoop.run();
  const env = { STRATA_URL: base, STRATA_KEY: key };
  const stack = (args: string[], code = 0, words = /^$/) => assertEnds(['stack', ...args], code, words, { env });

  it('saves, replaces, lists, compares and deletes a segment', async () => {
    for (const query of ['tld:none', `domain:${domain}`])
      assert.equal((await stack(['segment', 'save', 'cli-one', query])).stdout, 'segment:cli-one is saved\n');
    const row = new RegExp(`^name +query *\n(?:.+\n)*cli-one +domain:${domain} *\n`);
    assert.match((await stack(['segment', 'list'])).stdout, row);

    const sides = ['compare', 'segment:cli-one', 'state:nonexistent'];
    const { a, b, categories } = JSON.parse((await stack([...sides, '--json', '--limit', '1'])).stdout);
    assert.deepEqual([a.domains, b.domains], [1, 0]);
    assert.ok(categories.length > 1 && categories[0].providers[0].a.share > 0);
    await stack(['compare', 'cli-one', 'tld:none'], 0, /^no domain matches cli-one; .+ of this name is segment:/);
    assert.match((await stack([...sides, '--role', 'dns'])).stdout, /^role +provider .*\ndns /m);
    const { stdout } = await stack([...sides, '--category', categories[0].category]);
    assert.match(stdout, /^ +domains +mean score +A.*\na +1 +\d+\.\d .*\nb +0 /);
    const { category, providers } = categories[0];
    assert.match(stdout, new RegExp(`\n${category} +${providers[0].provider} +\\d+\\.\\d % \\([\\d.]+ of 1\\)`));
    for (const [, share, part] of stdout.matchAll(/(\S+) % \((\S+) of 1\)/g))
      assert.ok(Math.abs(Number(share) - Number(part) * 100) < 0.6, `${share} % is not ${part} of 1`);

    assert.equal((await stack(['segment', 'delete', 'cli-one'])).stdout, 'segment:cli-one is deleted\n');
    assert.doesNotMatch((await stack(['segment', 'list'])).stdout, /cli-one/);
  });

  for (const [args, code, words] of casesOf<[string[], number, string][]>('cli', 'refusals of segments'))
    it(`ends with ${code} for ${args.join(' ')}: ${words}`, () => stack(args, code, new RegExp(words)).then(() => {}));
});
