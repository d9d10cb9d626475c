// The verdict on a domain's signatures, from honest upstreams, careless ones, and ones that say what is not so.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PolicyEvidence } from '@strata/detect';
import dnsPacket from 'dns-packet';
import { a, cname, type DnsQuestion, type DnsScript, ds, ns, reply, soa } from './test/dns-server.ts';
import { found, IMPATIENT, scriptedResolver, silent } from './test/scripted-resolver.ts';
import { askApex, validationOf } from './validation.ts';

const { AUTHENTIC_DATA, CHECKING_DISABLED } = dnsPacket;
const isUnchecked = ({ bytes }: DnsQuestion) => (bytes.readUInt16BE(2) & CHECKING_DISABLED) !== 0;
const none = (q: DnsQuestion) => reply(q, { authorities: [soa('test')] });
const servfail = (q: DnsQuestion) => reply(q, { rcode: 2 });

interface World {
  /** Of answers about `com`, about the domain, and whether there is a DS record. */
  readonly checksCom?: boolean;
  readonly checksDomain?: boolean;
  readonly hasDs?: boolean;
  /** The question for the DS record ends in SERVFAIL. */
  readonly failsDs?: boolean;
  /** Checked questions about the domain end in SERVFAIL: always, or only the first. */
  readonly fails?: 'always' | 'once' | 'unchecked-too';
}

function world({ checksCom, checksDomain, hasDs, failsDs, fails }: World): DnsScript {
  let refusals = 0;
  return (q) => {
    if (q.name === 'com') return [reply(q, { answers: [ns('com', 'ns1.com')], flags: checksCom ? AUTHENTIC_DATA : 0 })];
    if (q.type === 'DS' && failsDs) return [servfail(q)];
    if (q.type === 'DS') return [hasDs ? reply(q, { answers: [ds(q.name)] }) : none(q)];
    const isRefused =
      fails === 'unchecked-too' || (fails !== undefined && !isUnchecked(q) && (fails === 'always' || refusals++ === 0));
    if (isRefused) return [servfail(q)];
    const flags = checksDomain && !isUnchecked(q) ? AUTHENTIC_DATA : 0;
    return [reply(q, { answers: [q.type === 'SOA' ? soa(q.name) : ns(q.name, 'ns1.test')], flags })];
  };
}

const cases: readonly [what: string, world: World, verdict: PolicyEvidence['validation'], questions: number][] = [
  ['signed, and the upstream vouches for it', { checksCom: true, checksDomain: true, hasDs: true }, 'secure', 2],
  ['unsigned, and the upstream checks', { checksCom: true }, 'insecure', 3],
  ['unsigned, and the upstream does not check', {}, 'unknown', 3],
  ['signed, and nobody checks', { hasDs: true }, 'unknown', 2],
  ['vouched for without a DS record, which is a lie', { checksCom: true, checksDomain: true }, 'unknown', 2],
  ['vouched for, the DS record not to be had', { checksCom: true, checksDomain: true, failsDs: true }, 'unknown', 2],
  ['refused unless unchecked, and signed', { checksCom: true, hasDs: true, fails: 'always' }, 'bogus', 4],
  ['refused unless unchecked, and not signed', { checksCom: true, fails: 'always' }, 'unknown', 3],
  ['refused once by a server that stumbles', { checksCom: true, hasDs: true, fails: 'once' }, 'unknown', 4],
  ['failing, checked or not', { checksCom: true, hasDs: true, fails: 'unchecked-too' }, 'unknown', 3],
];
for (const [what, given, verdict, questions] of cases)
  it(`a domain that is ${what} is ${verdict}, for ${questions} questions`, async () => {
    await using scripted = await scriptedResolver([world(given)]);
    const { resolver, asked } = scripted;
    const { signal } = new AbortController();
    const apex = await askApex(resolver, 'example.com', { signal });
    const lookup = await resolver.query('example.com', 'DS', { signal });
    assert.equal(await validationOf(resolver, 'example.com', { apex, ds: lookup, signal }), verdict);
    assert.equal(apex.isUnchecked, given.fails === 'always' || given.fails === 'once');
    assert.equal(asked.length, questions, asked.join());
  });

it('a denial that only an unchecked question gets does not make a domain nonexistent', async () => {
  await using scripted = await scriptedResolver([
    (q) => [isUnchecked(q) ? reply(q, { rcode: 3, authorities: [soa('com')] }) : servfail(q)],
  ]);
  const apex = await askApex(scripted.resolver, 'example.com', { signal: new AbortController().signal });
  assert.deepEqual([apex.ns.status, apex.isUnchecked], ['servfail', false]);
});

it('an answer or an absence is authentic when its upstream reports so, also from the cache; a failure never is', async () => {
  const byName: DnsScript = (q) => {
    const flags = q.name === 'plain.found.test' ? 0 : AUTHENTIC_DATA;
    if (q.name === 'gone.test') return [reply(q, { rcode: 3, authorities: [soa('test')], flags })];
    if (q.name === 'bad.test') return [reply(q, { rcode: 2, flags })];
    return [reply(q, { answers: [a(q.name, '192.0.2.1')], flags })];
  };
  await using scripted = await scriptedResolver([byName]);
  for (const [name, status, expected] of [
    ['found.test', 'found', true],
    ['plain.found.test', 'found', false],
    ['gone.test', 'nxdomain', true],
    ['bad.test', 'servfail', false],
    ['found.test', 'found', true],
    ['plain.found.test', 'found', false],
  ] as const) {
    const { lookup, isAuthentic } = await scripted.resolver.ask(name, 'A');
    assert.deepEqual([lookup.status, isAuthentic], [status, expected], name);
  }
  assert.equal(scripted.asked.filter((question) => question.endsWith('found.test')).length, 2);
});

it('a chain taken up again is authentic when every part of it is', async () => {
  const chain: DnsScript = (q) => {
    if (q.name === 'end.test') return [reply(q, { answers: [a(q.name, '192.0.2.1')], flags: AUTHENTIC_DATA })];
    const next = q.name === 'half.test' ? 'loose.test' : 'end.test';
    return [reply(q, { answers: [cname(q.name, next)], flags: q.name === 'half.test' ? AUTHENTIC_DATA : 0 })];
  };
  await using scripted = await scriptedResolver([chain]);
  const { lookup, isAuthentic } = await scripted.resolver.ask('half.test', 'A');
  assert.deepEqual([lookup.aliases, isAuthentic], [['loose.test', 'end.test'], false]);
});

it('unchecked questions carry CD and are kept apart from checked ones', async () => {
  const flags: number[] = [];
  await using scripted = await scriptedResolver([
    (q) => {
      flags.push(q.bytes.readUInt16BE(2) & (AUTHENTIC_DATA | CHECKING_DISABLED));
      return flags.at(-1) === AUTHENTIC_DATA ? [reply(q, { rcode: 2 })] : found(q);
    },
  ]);
  for (let i = 0; i < 2; i++) {
    assert.equal((await scripted.resolver.query('a.test', 'A')).status, 'servfail');
    assert.equal((await scripted.resolver.query('a.test', 'A', { isUnchecked: true })).status, 'found');
  }
  assert.deepEqual(flags, [AUTHENTIC_DATA, CHECKING_DISABLED, AUTHENTIC_DATA]);
});

const validating: DnsScript = (q) => [reply(q, { answers: [ns(q.name, 'ns1.test')], flags: AUTHENTIC_DATA })];
for (const [what, scripts, isValidating] of [
  ['the only one reports so', [validating], true],
  ['all of several report so', [validating, validating], true],
  ['one of two does not', [validating, (q) => [reply(q, { answers: [ns(q.name, 'x.test')] })]], false],
  ['the other one is silent', [validating, silent], true],
  ['its verdict comes with an error', [(q) => [reply(q, { rcode: 2, flags: AUTHENTIC_DATA })]], false],
  ['it is silent', [silent], false],
] as const satisfies readonly (readonly [string, readonly DnsScript[], boolean])[])
  it(`upstreams ${isValidating ? 'check' : 'are not known to check'} signatures when ${what}`, async () => {
    await using scripted = await scriptedResolver(scripts, what.endsWith('silent') ? IMPATIENT : {});
    assert.equal(await scripted.resolver.isValidating(), isValidating);
    const asked = () => scripted.servers.map((server) => server.asked.length);
    const before = asked();
    assert.equal(await scripted.resolver.isValidating(), isValidating);
    assert.deepEqual(asked(), before);
  });
