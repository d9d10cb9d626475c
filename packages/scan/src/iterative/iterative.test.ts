// Iterative mode against small hierarchies over real sockets: what it asks whom, and what it takes for an answer.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { cname, type DnsScript, reply, soa, txt } from '../test/dns-server.ts';
import { address, authority, ns, ROOT, told, withHierarchy } from '../test/hierarchy.ts';

const TEST = '127.66.1.1';
const OTHER = '127.66.1.2';
const EXAMPLE = '127.66.2.1';
const EXAMPLE_TOO = '127.66.2.2';
const BANK = '127.66.3.1';

const root = authority({
  '': [
    ns('test', 'a.nic.test'),
    address('a.nic.test', TEST),
    ns('other', 'a.nic.other'),
    address('a.nic.other', OTHER),
  ],
});
const glued = [
  ns('example.test', 'ns1.example.test'),
  ns('example.test', 'ns2.example.test'),
  address('ns1.example.test', EXAMPLE),
  address('ns2.example.test', EXAMPLE_TOO),
];
const top = authority({ test: glued });
const one = authority({ test: [ns('example.test', 'ns1.example.test'), address('ns1.example.test', EXAMPLE)] });
const example = authority({
  'example.test': [
    ns('example.test', 'ns1.example.test'),
    address('example.test', '192.0.2.1'),
    address('www.example.test', '192.0.2.2'),
    cname('shop.example.test', 'www.example.test'),
    cname('away.example.test', 'www.bank.other'),
    address('deep.down.there.example.test', '192.0.2.3'),
    txt('selector._domainkey.example.test', 'v=DKIM1; p='),
    txt('big.example.test', ...Array.from({ length: 20 }, (_, i) => `${i} ${'x'.repeat(200)}`)),
  ],
});
const bankServers = authority({
  'bank.other': [address('www.bank.other', '198.51.100.1'), address('ns.bank.other', BANK)],
});
const otherTop = authority({ other: [ns('bank.other', 'ns.bank.other'), address('ns.bank.other', BANK)] });
const silent: DnsScript = () => [];
const refusing: DnsScript = (q) => [reply(q, { rcode: 5 })];
const honest = { [ROOT]: root, [TEST]: one, [EXAMPLE]: example, [OTHER]: otherTop, [BANK]: bankServers };

it('it walks from the root, tells each server no more than it needs, and remembers the way', () =>
  withHierarchy(honest, async ({ resolver, asked }) => {
    const lookup = await resolver.query('www.example.test', 'A');
    assert.deepEqual([lookup.status, lookup.records], ['found', ['192.0.2.2']]);
    assert.deepEqual(asked(ROOT), ['A test']);
    assert.deepEqual(asked(TEST), ['A example.test']);
    assert.deepEqual(asked(EXAMPLE), ['A www.example.test']);
    await resolver.query('example.test', 'A');
    await resolver.query('selector._domainkey.example.test', 'TXT');
    assert.deepEqual([asked(ROOT).length, asked(TEST).length], [1, 1]);
    assert.deepEqual(asked(EXAMPLE).slice(1), ['A example.test', 'TXT selector._domainkey.example.test']);
  }));

it('questions that begin with the same steps share them', () =>
  withHierarchy(honest, async ({ resolver, asked }) => {
    const names = Array.from({ length: 50 }, (_, i) => `n${i}.example.test`);
    const lookups = await Promise.all(names.map((name) => resolver.query(name, 'A')));
    assert.ok(lookups.every(({ status }) => status === 'nxdomain'));
    assert.deepEqual([asked(ROOT), asked(TEST)], [['A test'], ['A example.test']]);
    assert.equal(asked(EXAMPLE).length, 50);
  }));

it('absence is measured, and kept as long as the SOA says', () =>
  withHierarchy(honest, async ({ resolver, asked }) => {
    for (let i = 0; i < 2; i++) {
      assert.equal((await resolver.query('nothing.example.test', 'A')).status, 'nxdomain');
      assert.equal((await resolver.query('www.example.test', 'MX')).status, 'empty');
      assert.equal((await resolver.query('gone.test', 'NS')).status, 'nxdomain');
      assert.equal((await resolver.query('example.nowhere', 'NS')).status, 'nxdomain');
    }
    assert.equal(asked(EXAMPLE).length, 2);
  }));

it('aliases are followed within a zone and out of it', () =>
  withHierarchy(honest, async ({ resolver }) => {
    const inside = await resolver.query('shop.example.test', 'A');
    assert.deepEqual([inside.records, inside.aliases], [['192.0.2.2'], ['www.example.test']]);
    const outside = await resolver.query('away.example.test', 'A');
    assert.deepEqual([outside.records, outside.aliases], [['198.51.100.1'], ['www.bank.other']]);
  }));

it('a DS record is asked for at the parent, where it stands', () => {
  const digest = Buffer.from('d4b7', 'hex');
  const signed = authority({
    test: [
      ns('example.test', 'ns1.example.test'),
      address('ns1.example.test', EXAMPLE),
      { type: 'DS', name: 'example.test', ttl: 300, data: { keyTag: 1, algorithm: 13, digestType: 2, digest } },
    ],
  });
  return withHierarchy({ ...honest, [TEST]: signed }, async ({ resolver, asked }) => {
    await resolver.query('example.test', 'A');
    const lookup = await resolver.query('example.test', 'DS');
    assert.deepEqual(lookup.records, [{ keyTag: 1, algorithm: 13, digestType: 2, digest: 'd4b7' }]);
    assert.deepEqual(asked(EXAMPLE), ['A example.test']);
    const { isAuthentic } = await resolver.ask('example.test', 'DS');
    assert.deepEqual([isAuthentic, await resolver.isValidating(), resolver.hasUpstreams], [false, false, false]);
  });
});

it('what does not fit a datagram comes over TCP', () => {
  const cut: DnsScript = async (q) => {
    const [whole] = (await example(q)) as Buffer[];
    return whole && q.transport === 'udp' && whole.length > 1_232 ? [told(q, { flags: 0x0200 })] : whole ? [whole] : [];
  };
  return withHierarchy({ ...honest, [EXAMPLE]: cut }, async ({ resolver, asked }) => {
    const lookup = await resolver.query('big.example.test', 'TXT');
    assert.equal(lookup.records[0]?.length, 20 * 202 + 10);
    assert.ok(asked(EXAMPLE).includes('TXT big.example.test/tcp'));
  });
});

it('a server without glue is looked up, once for all who need it', () => {
  const glueless = authority({ test: [ns('example.test', 'ns.bank.other'), ns('second.test', 'ns.bank.other')] });
  const both = authority({
    'bank.other': [address('ns.bank.other', BANK)],
    'example.test': [address('www.example.test', '192.0.2.2')],
    'second.test': [address('www.second.test', '192.0.2.3')],
  });
  return withHierarchy({ ...honest, [TEST]: glueless, [BANK]: both }, async ({ resolver, asked }) => {
    const lookups = await Promise.all(['www.example.test', 'www.second.test'].map((name) => resolver.query(name, 'A')));
    assert.deepEqual(
      lookups.map(({ records }) => records[0]),
      ['192.0.2.2', '192.0.2.3'],
    );
    assert.equal(asked(BANK).filter((question) => question === 'A ns.bank.other').length, 1);
  });
});

it('a name that only has others below it is passed, also where its server denies it', async () => {
  await withHierarchy(honest, async ({ resolver }) => {
    assert.deepEqual((await resolver.query('deep.down.there.example.test', 'A')).records, ['192.0.2.3']);
  });
  const denying: DnsScript = (q) =>
    q.name.toLowerCase() === 'there.example.test'
      ? [told(q, { rcode: 3, authorities: [soa('example.test')] })]
      : example(q);
  await withHierarchy({ ...honest, [EXAMPLE]: denying }, async ({ resolver, asked }) => {
    assert.deepEqual((await resolver.query('deep.down.there.example.test', 'A')).records, ['192.0.2.3']);
    assert.deepEqual(asked(EXAMPLE), ['A there.example.test', 'A deep.down.there.example.test']);
  });
});

it('a lame server is passed over and not asked again', () =>
  withHierarchy({ ...honest, [TEST]: top, [EXAMPLE_TOO]: refusing }, async ({ resolver, asked }) => {
    for (let i = 0; i < 20; i++) assert.equal((await resolver.query(`n${i}.example.test`, 'A')).status, 'nxdomain');
    assert.ok(asked(EXAMPLE_TOO).length <= 1);
  }));

for (const [what, script, status] of [
  ['refuses', refusing, 'refused'],
  ['refers upwards', (q) => [reply(q, { authorities: [ns('test', 'a.nic.test')] })], 'servfail'],
  ['refers to itself', (q) => [reply(q, { authorities: [ns('example.test', 'ns1.example.test')] })], 'servfail'],
  ['refers sideways', (q) => [reply(q, { authorities: [ns('bank.other', 'ns.bank.other')] })], 'servfail'],
  ['says nothing in an answer', (q) => [reply(q)], 'servfail'],
  ['fails', (q) => [reply(q, { rcode: 2 })], 'servfail'],
  ['answers about other names', (q) => [told(q, { answers: [address('www.bank.other', '6.6.6.6')] })], 'malformed'],
  ['is silent', silent, 'timeout'],
] as const satisfies readonly (readonly [string, DnsScript, string])[]) {
  it(`a zone whose only server ${what} is ${status}, which is a failure and no absence`, () =>
    withHierarchy(
      { ...honest, [EXAMPLE]: script },
      async ({ resolver }) => {
        const { status: told } = await resolver.query('www.example.test', 'A');
        assert.equal(told, status);
        assert.ok(resolver.stats().failures > 0);
      },
      { tryTimeoutMs: 100, totalTimeoutMs: 400 },
    ));
}

it('who answers without saying that the zone is its own is believed where nobody does better', () => {
  const hearsay: DnsScript = (q) => [reply(q, { answers: [address(q.name, '6.6.6.6')] })];
  const best = withHierarchy({ ...honest, [TEST]: top, [EXAMPLE_TOO]: hearsay }, async ({ resolver }) => {
    for (let i = 0; i < 10; i++) assert.equal((await resolver.query(`n${i}.example.test`, 'A')).status, 'nxdomain');
  });
  return best.then(() =>
    withHierarchy({ ...honest, [EXAMPLE]: hearsay }, async ({ resolver }) => {
      assert.deepEqual((await resolver.query('www.example.test', 'A')).records, ['6.6.6.6']);
    }),
  );
});

it('a silent server is remembered as silent, and the other one answers', () =>
  withHierarchy(
    { ...honest, [TEST]: top, [EXAMPLE_TOO]: silent },
    async ({ resolver, asked }) => {
      for (let i = 0; i < 40; i++) assert.equal((await resolver.query(`n${i}.example.test`, 'A')).status, 'nxdomain');
      assert.ok(asked(EXAMPLE_TOO).length <= 4, asked(EXAMPLE_TOO).join());
    },
    { tryTimeoutMs: 100 },
  ));

it('a zone that has been silent is not waited for by every question', () =>
  withHierarchy(
    { ...honest, [EXAMPLE]: silent },
    async ({ resolver, asked }) => {
      for (let i = 0; i < 20; i++) assert.equal((await resolver.query(`n${i}.example.test`, 'A')).status, 'timeout');
      assert.ok(asked(EXAMPLE).length <= 8, `${asked(EXAMPLE).length} packets`);
    },
    { tryTimeoutMs: 100, totalTimeoutMs: 1_000 },
  ));

it('a server that knows no EDNS0 is asked without', () => {
  const old: DnsScript = (q) => (q.bytes.readUInt16BE(10) > 0 ? [reply(q, { rcode: 1 })] : example(q));
  return withHierarchy({ ...honest, [EXAMPLE]: old }, async ({ resolver, asked }) => {
    assert.equal((await resolver.query('www.example.test', 'A')).status, 'found');
    assert.equal((await resolver.query('example.test', 'A')).status, 'found');
    assert.equal(asked(EXAMPLE).length, 3);
  });
});
