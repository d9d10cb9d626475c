// The resolver and DNSSEC: how it asks for the verdict of its upstreams, and when it believes that they check.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import dnsPacket from 'dns-packet';
import { a, cname, type DnsScript, reply, soa } from './test/dns-server.ts';
import { IMPATIENT, withServers } from './test/scripted-resolver.ts';

const { AUTHENTIC_DATA, CHECKING_DISABLED } = dnsPacket;
const flagsOf = (bytes: Buffer) => bytes.readUInt16BE(2);
const address: DnsScript = (q) => [reply(q, { answers: [a(q.name, '192.0.2.1')] })];
const ns: DnsScript = (q) => [
  reply(q, { answers: [{ type: 'NS', name: q.name, ttl: 300, data: 'ns1.test' }], flags: AUTHENTIC_DATA }),
];

it('an answer is authentic when its upstream says so, and stays so in the cache', () =>
  withServers(
    [(q) => [reply(q, { answers: [a(q.name, '192.0.2.1')], flags: q.name === 'good.test' ? AUTHENTIC_DATA : 0 })]],
    async (resolver, [server]) => {
      for (let i = 0; i < 2; i++) {
        assert.equal((await resolver.ask('good.test', 'A')).isAuthentic, true);
        assert.equal((await resolver.ask('plain.test', 'A')).isAuthentic, false);
      }
      assert.equal(server?.asked.length, 2);
    },
  ));

it('so is absence', () =>
  withServers(
    [(q) => [reply(q, { rcode: 3, authorities: [soa('test')], flags: AUTHENTIC_DATA })]],
    async (resolver) => {
      const { lookup, isAuthentic } = await resolver.ask('gone.test', 'A');
      assert.deepEqual([lookup.status, isAuthentic], ['nxdomain', true]);
    },
  ));

it('a failure that claims it is not', () =>
  withServers([(q) => [reply(q, { rcode: 2, flags: AUTHENTIC_DATA })]], async (resolver) => {
    assert.equal((await resolver.ask('bad.test', 'A')).isAuthentic, false);
  }));

it('a chain taken up again is authentic when every part of it is', () =>
  withServers(
    [
      (q) => {
        const isFirst = q.name !== 'end.test';
        const flags = q.name === 'half.test' || !isFirst ? AUTHENTIC_DATA : 0;
        const next = isFirst
          ? cname(q.name, q.name === 'half.test' ? 'loose.test' : 'end.test')
          : a(q.name, '192.0.2.1');
        return [reply(q, { answers: [next], flags })];
      },
    ],
    async (resolver) => {
      const { lookup, isAuthentic } = await resolver.ask('half.test', 'A');
      assert.deepEqual(lookup.aliases, ['loose.test', 'end.test']);
      assert.equal(isAuthentic, false);
    },
  ));

it('unchecked questions carry CD and are kept apart from checked ones', async () => {
  const seen: number[] = [];
  await withServers(
    [
      (q) => {
        seen.push(flagsOf(q.bytes) & (AUTHENTIC_DATA | CHECKING_DISABLED));
        return (flagsOf(q.bytes) & CHECKING_DISABLED) === 0 ? [reply(q, { rcode: 2 })] : address(q);
      },
    ],
    async (resolver) => {
      assert.equal((await resolver.query('a.test', 'A')).status, 'servfail');
      assert.equal((await resolver.query('a.test', 'A', { isUnchecked: true })).status, 'found');
      assert.equal((await resolver.query('a.test', 'A')).status, 'servfail');
      assert.equal((await resolver.query('a.test', 'A', { isUnchecked: true })).status, 'found');
    },
  );
  assert.deepEqual(seen, [AUTHENTIC_DATA, CHECKING_DISABLED, AUTHENTIC_DATA]);
});

for (const [what, scripts, isValidating] of [
  ['the only one says so', [ns], true],
  ['all of several say so', [ns, ns], true],
  [
    'one of two does not',
    [ns, (q) => [reply(q, { answers: [{ type: 'NS', name: q.name, ttl: 9, data: 'x.test' }] })]],
    false,
  ],
  ['the other one is silent', [ns, () => []], true],
  ['its verdict comes with an error', [(q) => [reply(q, { rcode: 2, flags: AUTHENTIC_DATA })]], false],
  ['it is silent', [() => []], false],
] as const satisfies readonly (readonly [string, readonly DnsScript[], boolean])[]) {
  it(`upstreams ${isValidating ? 'check' : 'are not known to check'} signatures when ${what}`, () =>
    withServers(
      scripts,
      async (resolver, servers) => {
        assert.equal(await resolver.isValidating(), isValidating);
        const asked = () => servers.map((server) => server.asked.length);
        const before = asked();
        assert.equal(await resolver.isValidating(), isValidating);
        assert.deepEqual(asked(), before);
      },
      what.endsWith('silent') ? IMPATIENT : {},
    ));
}
