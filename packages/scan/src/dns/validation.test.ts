// The verdict on a domain's signatures, from honest upstreams, careless ones, and ones that say what is not so.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PolicyEvidence } from '@strata/detect';
import dnsPacket from 'dns-packet';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { a, cname, type DnsQuestion, type DnsScript, ds, ns, reply, soa } from '../test/dns-server.ts';
import { found, IMPATIENT, scriptedResolver, silent } from '../test/scripted-resolver.ts';
import { askApex, validationOf } from './validation.ts';

const { AUTHENTIC_DATA: AD, CHECKING_DISABLED: CD } = dnsPacket;
const isUnchecked = ({ bytes }: DnsQuestion) => (bytes.readUInt16BE(2) & CD) !== 0;
const servfail = (q: DnsQuestion) => reply(q, { rcode: 2 });

/** Of answers about `com` and about the domain; its DS record, or none to be had; checked questions that end in SERVFAIL. */
type Trait = 'checks com' | 'checks domain' | 'DS' | 'fails DS' | 'fails' | 'fails once' | 'fails unchecked';

function world(traits: readonly Trait[]): DnsScript {
  const has = (trait: Trait) => traits.includes(trait);
  let checked = 0;
  const isRefused = (q: DnsQuestion) =>
    has('fails unchecked') || (!isUnchecked(q) && (has('fails') || (has('fails once') && checked++ === 0)));
  return (q) => {
    if (q.name === 'com') return [reply(q, { answers: [ns('com', 'ns1.com')], flags: has('checks com') ? AD : 0 })];
    if (q.type === 'DS' && has('fails DS')) return [servfail(q)];
    if (q.type === 'DS') return [reply(q, has('DS') ? { answers: [ds(q.name)] } : { authorities: [soa('test')] })];
    if (isRefused(q)) return [servfail(q)];
    const flags = has('checks domain') && !isUnchecked(q) ? AD : 0;
    return [reply(q, { answers: [q.type === 'SOA' ? soa(q.name) : ns(q.name, 'ns1.test')], flags })];
  };
}

const cases: readonly [what: string, traits: Trait[], verdict: PolicyEvidence['validation'], questions: number][] =
  casesOf('scan', 'validation');
for (const [what, traits, verdict, questions] of cases)
  it(`a domain that is ${what} is ${verdict}, for ${questions} questions`, async () => {
    await using scripted = await scriptedResolver([world(traits)]);
    const { resolver, asked } = scripted;
    const { signal } = new AbortController();
    const apex = await askApex(resolver, 'example.com', { signal });
    const lookup = await resolver.query('example.com', 'DS', { signal });
    assert.equal(await validationOf(resolver, 'example.com', { apex, ds: lookup, signal }), verdict);
    assert.equal(apex.isUnchecked, traits.includes('fails') || traits.includes('fails once'));
    assert.equal(asked.length, questions, asked.join());
  });

it('a denial that only an unchecked question gets does not make a domain nonexistent', async () => {
  const script: DnsScript = (q) =>
    isUnchecked(q) ? [reply(q, { rcode: 3, authorities: [soa('com')] })] : [servfail(q)];
  await using scripted = await scriptedResolver([script]);
  const apex = await askApex(scripted.resolver, 'example.com', { signal: new AbortController().signal });
  assert.deepEqual([apex.ns.status, apex.isUnchecked], ['servfail', false]);
});

it('an answer or an absence is authentic when its upstream reports so, also from the cache; a failure never is', async () => {
  const byName: DnsScript = (q) => {
    const flags = q.name === 'plain.found.test' ? 0 : AD;
    if (q.name === 'missing.test') return [reply(q, { rcode: 3, authorities: [soa('test')], flags })];
    if (q.name === 'bad.test') return [reply(q, { rcode: 2, flags })];
    return [reply(q, { answers: [a(q.name, '192.0.2.1')], flags })];
  };
  await using scripted = await scriptedResolver([byName]);
  for (const [name, status, expected] of casesOf<[string, string, boolean][]>('scan', 'authentic answers')) {
    const { lookup, isAuthentic } = await scripted.resolver.ask(name, 'A');
    assert.deepEqual([lookup.status, isAuthentic], [status, expected], name);
  }
  assert.equal(scripted.asked.filter((question) => question.endsWith('found.test')).length, 2);
});

it('a chain cut short is taken up again, with all its links, and authentic when every part of it is', async () => {
  const chain: DnsScript = (q) => {
    if (q.name === 'end.test') return [reply(q, { answers: [a(q.name, '192.0.2.1')], flags: AD })];
    const next = q.name === 'half.test' ? 'loose.test' : 'end.test';
    return [reply(q, { answers: [cname(q.name, next)], flags: q.name === 'half.test' ? AD : 0 })];
  };
  await using scripted = await scriptedResolver([chain]);
  const { lookup, isAuthentic } = await scripted.resolver.ask('half.test', 'A');
  assert.deepEqual(lookup, { status: 'found', records: ['192.0.2.1'], aliases: ['loose.test', 'end.test'] });
  assert.equal(isAuthentic, false);
});

it('unchecked questions carry CD and are kept apart from checked ones', async () => {
  const flags: number[] = [];
  const script: DnsScript = (q) => {
    flags.push(q.bytes.readUInt16BE(2) & (AD | CD));
    return flags.at(-1) === AD ? [servfail(q)] : found(q);
  };
  await using scripted = await scriptedResolver([script]);
  for (let i = 0; i < 2; i++) {
    assert.equal((await scripted.resolver.query('a.test', 'A')).status, 'servfail');
    assert.equal((await scripted.resolver.query('a.test', 'A', { isUnchecked: true })).status, 'found');
  }
  assert.deepEqual(flags, [AD, CD, AD]);
});

const validating: DnsScript = (q) => [reply(q, { answers: [ns(q.name, 'ns1.test')], flags: AD })];
for (const [what, scripts, isValidating] of [
  ['the only one reports so', [validating], true],
  ['all of several report so', [validating, validating], true],
  ['one of two does not', [validating, (q) => [reply(q, { answers: [ns(q.name, 'x.test')] })]], false],
  ['the other one is silent', [validating, silent], true],
  ['its verdict comes with an error', [(q) => [reply(q, { rcode: 2, flags: AD })]], false],
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
