// `strata stack records` and `pivot` against a real service.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { liveService } from '../../test/live-service.ts';
import { assertEnds } from '../../test/run-strata.ts';

it('strata stack records prints what a domain publishes and published, and pivot the domains that share a value', async () => {
  const { base, key, domain } = await liveService();
  const env = { STRATA_URL: base, STRATA_KEY: key };
  const ask = async (command: string, code = 0, words = /^$/) =>
    (await assertEnds(['stack', ...command.split(' ')], code, words, { env })).stdout;
  await fetch(`${base}/stack/v1/domains/${domain}`, { headers: { 'x-stack-key': key } });
  const { records } = JSON.parse(await ask(`records ${domain} --json`));
  const { value } = records.find(({ kind }: { kind: string }) => kind === 'ns') ?? assert.fail();
  const rows = /^kind +first seen +last seen +other domains +value *\n/m;
  for (const at of ['', ` --at ${new Date(Date.now() + 60_000).toISOString()}`])
    assert.match(await ask(`records ${domain}${at}`), new RegExp(`${rows.source}(?:.+\n)*ns +\\S+ .+ ${value}`, 'm'));
  assert.match(await ask(`records ${domain} --history`), /^at +change +kind +value */m);
  assert.equal(JSON.parse(await ask(`records ${domain} --history --json`)).domain, domain);
  const shared = await ask(`pivot ns ${value}`);
  assert.match(
    shared,
    new RegExp(`^ns ${value}: \\d+ domains now, \\d+ ever\\.[^\n]*\ndomain +first seen (?:.*\n)+${domain} `),
  );
  assert.match(await ask(`pivot ns ${value} --past`), /^ns \S+: \d+ domains now, \d+ ever\..*\n$/);
  assert.match(await ask(`pivot ns ${value} --json`), new RegExp(`"domain": ?"${domain}"`));
  for (const wrong of ['records no-such-name.invalid', 'pivot colour red', `records ${domain} --at never`])
    await ask(wrong, wrong.startsWith('records no') ? 1 : 2, /./);
});
