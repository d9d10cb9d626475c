// SPF and DMARC policies asked for: what receivers would ask for, and no more, however the records lead on.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Lookup } from '@strata/detect';
import type { Ask } from './ask.ts';
import { askDmarcParents, askReportConsents } from './dmarc-questions.ts';
import { askSpfPolicies } from './spf-policies.ts';

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

it('SPF policies are followed through include and redirect, each level at once', async () => {
  const { ask, asked } = table({
    'a.test': 'v=spf1 include:c.test -all',
    'b.test': 'v=spf1 redirect=d.test',
    'c.test': 'v=spf1 ip4:192.0.2.1 ~all',
    'd.test': 'v=spf1 -all',
  });
  const policies = await askSpfPolicies(['v=spf1 include:a.test include:B.test. ~all'], ask);
  assert.deepEqual(asked, ['a.test', 'b.test', 'c.test', 'd.test']);
  assert.deepEqual(policies['d.test']?.records, ['v=spf1 -all']);
});

it('SPF policies that include each other are asked for once', async () => {
  const { ask, asked } = table({
    'example.com': 'v=spf1 include:a.test',
    'a.test': 'v=spf1 include:b.test include:a.test',
    'b.test': 'v=spf1 include:a.test include:example.com',
  });
  await askSpfPolicies(['v=spf1 include:a.test'], ask);
  assert.deepEqual(asked, ['a.test', 'b.test', 'example.com']);
});

it('SPF policies that do not exist are reported as such, also under a name that objects inherit', async () => {
  const { ask } = table();
  const policies = await askSpfPolicies(['v=spf1 include:gone.test include:__proto__.test -all'], ask);
  assert.deepEqual(Object.keys(policies), ['gone.test', '__proto__.test']);
  assert.equal(policies['gone.test']?.status, 'nxdomain');
});

it('SPF policies with macros, without a dot, no names at all or no policies (`exists`) are left out', async () => {
  const { ask, asked } = table();
  const record =
    'v=spf1 include:%{d}.a.test exists:%{i}.b.test exists:c.test include:local include:a..b include:x/24 redirect=é.test';
  await askSpfPolicies([record], ask);
  assert.deepEqual(asked, []);
});

it('SPF policies keep only what is SPF of a busy name', async () => {
  const { ask } = table({
    'a.test': ['site-verification=1', 'V=SPF1 -all', 'v=spf10 -all'],
    'b.test': ['site-verification=1', 'v=spf10 -all'],
  });
  const policies = await askSpfPolicies(['v=spf1 include:a.test include:b.test'], ask);
  assert.deepEqual(policies['a.test'], { status: 'found', records: ['V=SPF1 -all'], aliases: [] });
  // To have texts and no policy is not to be empty, which receivers count.
  assert.deepEqual(policies['b.test'], { status: 'found', records: ['site-verification=1'], aliases: [] });
});

const SIXTY = Array.from({ length: 60 }, (_, i) => i);
for (const [what, recordOf, questions] of [
  ['a tree without end', (name: string) => `v=spf1 include:a${name} include:b${name}`, 20],
  ['sixty names in one record', () => `v=spf1${SIXTY.map((i) => ` include:n${i}.test`).join('')}`, 20],
  ['a chain without end', (name: string) => `v=spf1 include:a${name}`, 10],
] as const)
  it(`SPF policies of ${what} cost ${questions} questions, and the names beyond them are not reported`, async () => {
    const { ask, asked } = table((name) => [recordOf(name)]);
    const policies = await askSpfPolicies([recordOf('x.test')], ask);
    assert.equal(asked.length, questions);
    if (questions === 10) assert.deepEqual(Object.keys(policies), asked);
  });

it('SPF policies of a chain of slow servers are followed as long as there is time', async () => {
  const { ask, asked } = table((name) => [`v=spf1 include:a${name}`]);
  const slow = (async (name, type) => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    return ask(name, type);
  }) as Ask;
  const policies = await askSpfPolicies(['v=spf1 include:x.test'], slow, { patienceMs: 20 });
  assert.deepEqual(asked, ['x.test']);
  assert.deepEqual(Object.keys(policies), ['x.test', 'ax.test']);
  const { status, detail } = policies['ax.test'] ?? {};
  assert.equal(status, 'timeout', 'what was not asked for is not known to be empty');
  assert.match(detail ?? '', /^not asked/);
});

for (const [domain, parents] of [
  ['example.com', 'com'],
  ['example.co.uk', 'co.uk uk'],
  ['a.b.c.d.e.f.g.h.i.test', 'd.e.f.g.h.i.test e.f.g.h.i.test f.g.h.i.test g.h.i.test h.i.test i.test test'],
] as const)
  it(`above ${domain} the policies of ${parents} are asked for`, async () => {
    const { ask, asked } = table();
    assert.equal(Object.keys(await askDmarcParents(domain, ask)).join(' '), parents);
    assert.equal(asked.join(' '), parents.replace(/\S+/g, '_dmarc.$&'));
  });

it('the hosts of other owners are asked whether they want reports, at most eight, and none for two policies', async () => {
  const policy = (rua: string) => `v=DMARC1; p=none; rua=${rua}`;
  const crowd = policy(SIXTY.map((i) => `mailto:a@r${i}.test`).join());
  const some =
    'mailto:a@example.com,mailto:b@mail.example.com,mailto:c@reports.test!10m; ruf=mailto:d@Reports.TEST,https://web.test/';
  for (const [records, hosts] of [
    [[policy(some)], ['reports.test']],
    [[crowd], SIXTY.slice(0, 8).map((i) => `r${i}.test`)],
    [[], []],
    [[crowd, crowd], []],
  ] as const) {
    const { ask, asked } = table();
    assert.deepEqual(Object.keys(await askReportConsents('example.com', records, ask)), hosts);
    assert.deepEqual(
      asked,
      hosts.map((host) => `example.com._report._dmarc.${host}`),
    );
  }
});
