// The resolver and DNSSEC: how it asks for the verdict of its upstreams, and when it trusts that they validate.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import dnsPacket from 'dns-packet';
import { a, cname, type DnsScript, ns, reply, soa } from './test/dns-server.ts';
import { found, IMPATIENT, scriptedResolver, silent } from './test/scripted-resolver.ts';

const { AUTHENTIC_DATA, CHECKING_DISABLED } = dnsPacket;

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
] as const satisfies readonly (readonly [string, readonly DnsScript[], boolean])[]) {
  it(`upstreams ${isValidating ? 'check' : 'are not known to check'} signatures when ${what}`, async () => {
    await using scripted = await scriptedResolver(scripts, what.endsWith('silent') ? IMPATIENT : {});
    assert.equal(await scripted.resolver.isValidating(), isValidating);
    const asked = () => scripted.servers.map((server) => server.asked.length);
    const before = asked();
    assert.equal(await scripted.resolver.isValidating(), isValidating);
    assert.deepEqual(asked(), before);
  });
}
