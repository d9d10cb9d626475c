// SPF and DMARC policies asked for: what receivers would ask for, and no more, however the records lead on.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Lookup } from '@strata/detect';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { askDmarcParents, askReportConsents } from '../probe/dmarc-questions.ts';
import { askSpfPolicies } from '../probe/spf-policies.ts';
import type { Ask } from './ask.ts';

type Policies = Readonly<Record<string, string | readonly string[]>> | ((name: string) => readonly string[]);

/** `asked` lists the names in order; a name that is not in the table does not exist. */
function table(policies: Policies = {}) {
  const asked: string[] = [];
  const recordsOf = typeof policies === 'function' ? policies : (name: string) => [policies[name] ?? []].flat();
  const ask = (async (name: string): Promise<Lookup<string>> => {
    asked.push(name);
    const records = recordsOf(name);
    return { status: records.length > 0 ? 'found' : 'nxdomain', records, aliases: [] };
  }) as Ask;
  return { ask, asked };
}

// Which names those are is tested where they are chosen, in detect.
it('SPF policies are followed through include and redirect, each level at once, also to a name that objects inherit', async () => {
  const { ask, asked } = table({ 'a.test': 'v=spf1 include:c.test -all', 'b.test': 'v=spf1 redirect=__proto__.test' });
  const policies = await askSpfPolicies(['v=spf1 include:a.test include:B.test. ~all'], ask);
  assert.deepEqual(asked, ['a.test', 'b.test', 'c.test', '__proto__.test']);
  assert.deepEqual([Object.keys(policies), policies['c.test']?.status], [asked, 'nxdomain']);
});

it('SPF policies keep only what is SPF of a busy name', async () => {
  const other = ['site-verification=1', 'v=spf10 -all'];
  const { ask } = table({ 'a.test': [...other, 'V=SPF1 -all'], 'b.test': other });
  const policies = await askSpfPolicies(['v=spf1 include:a.test include:b.test'], ask);
  assert.deepEqual(policies['a.test'], { status: 'found', records: ['V=SPF1 -all'], aliases: [] });
  // To have texts and no policy is not to be empty, which receivers count.
  assert.deepEqual(policies['b.test'], { status: 'found', records: ['site-verification=1'], aliases: [] });
});

it('SPF policies of a chain of slow servers are followed as long as there is time', async () => {
  const { ask, asked } = table((name) => [`v=spf1 include:a${name}`]);
  const slow = (async (name, type) => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    return ask(name, type);
  }) as Ask;
  const policies = await askSpfPolicies(['v=spf1 include:x.test'], slow, { timeoutMs: 20 });
  assert.deepEqual([asked, Object.keys(policies)], [['x.test'], ['x.test', 'ax.test']]);
  const { status, detail } = policies['ax.test'] ?? {};
  // What was not asked for is not known to be empty.
  assert.match(`${status} ${detail}`, /^timeout not queried/);
});

for (const [domain, parents] of casesOf<[string, string][]>('scan', 'parents'))
  it(`above ${domain} the policies of ${parents} are asked for`, async () => {
    const { ask, asked } = table();
    assert.equal(Object.keys(await askDmarcParents(domain, ask)).join(' '), parents);
    assert.equal(asked.join(' '), parents.replace(/\S+/g, '_dmarc.$&'));
  });

const SIXTY = Array.from({ length: 60 }, (_, i) => i);

it('the hosts of other owners are asked whether they want reports, at most eight, and none for two policies', async () => {
  const policy = (rua: string) => `v=DMARC1; p=none; rua=${rua}`;
  const manyHosts = policy(SIXTY.map((i) => `mailto:a@r${i}.test`).join());
  const some =
    'mailto:a@example.com,mailto:b@mail.example.com,mailto:c@reports.test!10m; ruf=mailto:d@Reports.TEST,https://web.test/';
  for (const [records, hosts] of [
    [[policy(some)], ['reports.test']],
    [[manyHosts], SIXTY.slice(0, 8).map((i) => `r${i}.test`)],
    [[], []],
    [[manyHosts, manyHosts], []],
  ] as const) {
    const { ask, asked } = table();
    assert.deepEqual(Object.keys(await askReportConsents('example.com', records, ask)), hosts);
    assert.equal(asked.join(), hosts.map((host) => `example.com._report._dmarc.${host}`).join());
  }
});
