// Iterative mode against small hierarchies over real sockets: which server it asks what, and what it accepts as an answer.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createInternet } from '@strata/testnet';
import { Resolver } from '../resolver.ts';
import { a, cname, type DnsScript, ds, ns, reply, soa, txt } from '../test/dns-server.ts';
import { authoritative, authority, delegated, plain, ROOT, startHierarchy } from '../test/hierarchy.ts';
import { rcode, silent } from '../test/scripted-resolver.ts';
import { askApex, validationOf } from '../validation.ts';

const TEST = '127.66.1.1';
const OTHER = '127.66.1.2';
const EXAMPLE = '127.66.2.1';
const EXAMPLE_TOO = '127.66.2.2';
const BANK = '127.66.3.1';

const root = authority({ '': [...delegated('test', 'a.nic.test', TEST), ...delegated('other', 'a.nic.other', OTHER)] });
const glued = delegated('example.test', 'ns1.example.test', EXAMPLE);
const two = authority({ test: [...glued, ...delegated('example.test', 'ns2.example.test', EXAMPLE_TOO)] });
const example = authority({
  'example.test': [
    ns('example.test', 'ns1.example.test'),
    a('example.test', '192.0.2.1'),
    a('www.example.test', '192.0.2.2'),
    cname('shop.example.test', 'www.example.test'),
    cname('away.example.test', 'www.bank.other'),
    a('deep.down.there.example.test', '192.0.2.3'),
    txt('selector._domainkey.example.test', 'v=DKIM1; p='),
    txt('big.example.test', ...Array.from({ length: 20 }, (_, i) => `${i} ${'x'.repeat(200)}`)),
  ],
});
const bankServers = authority({ 'bank.other': [a('www.bank.other', '198.51.100.1'), a('ns.bank.other', BANK)] });
const otherTop = authority({ other: delegated('bank.other', 'ns.bank.other', BANK) });
const one = authority({ test: glued });
const honest = { [ROOT]: root, [TEST]: one, [EXAMPLE]: example, [OTHER]: otherTop, [BANK]: bankServers };

it('it walks from a given root, sends each server no more than it needs, not even priming, and remembers the delegations', async () => {
  await using hierarchy = await startHierarchy(honest);
  const { query, asked } = hierarchy;
  const lookup = await query('www.example.test');
  assert.deepEqual([lookup.status, lookup.records], ['found', ['192.0.2.2']]);
  await query('example.test');
  await query('selector._domainkey.example.test', 'TXT');
  assert.deepEqual([asked(ROOT), asked(TEST)], [['A test'], ['A example.test']]);
  const own = ['A www.example.test', 'A example.test', 'TXT selector._domainkey.example.test'];
  assert.deepEqual(asked(EXAMPLE), own);
});

it('questions that begin with the same steps share them', async () => {
  await using hierarchy = await startHierarchy(honest);
  const statuses = await hierarchy.statuses(Array.from({ length: 50 }, (_, i) => `n${i}.example.test`));
  assert.deepEqual([...new Set(statuses)], ['nxdomain']);
  assert.deepEqual([hierarchy.asked(ROOT), hierarchy.asked(TEST)], [['A test'], ['A example.test']]);
  assert.equal(hierarchy.asked(EXAMPLE).length, 50);
});

it('absence is measured, and kept as long as the SOA record allows', async () => {
  await using hierarchy = await startHierarchy(honest);
  for (let i = 0; i < 2; i++)
    for (const [name, type, status] of [
      ['nothing.example.test', 'A', 'nxdomain'],
      ['www.example.test', 'MX', 'empty'],
      ['gone.test', 'NS', 'nxdomain'],
      ['example.nowhere', 'NS', 'nxdomain'],
    ] as const)
      assert.equal((await hierarchy.query(name, type)).status, status, name);
  assert.equal(hierarchy.asked(EXAMPLE).length, 2);
});

it('aliases are followed within a zone and out of it', async () => {
  await using hierarchy = await startHierarchy(honest);
  const inside = await hierarchy.query('shop.example.test');
  assert.deepEqual([inside.records, inside.aliases], [['192.0.2.2'], ['www.example.test']]);
  const outside = await hierarchy.query('away.example.test');
  assert.deepEqual([outside.records, outside.aliases], [['198.51.100.1'], ['www.bank.other']]);
});

it('a DS record is asked for at the parent, where it is, and no validation is claimed', async () => {
  const signed = authority({ test: [...glued, ds('example.test')] });
  await using hierarchy = await startHierarchy({ ...honest, [TEST]: signed });
  const { resolver, query } = hierarchy;
  await query('example.test');
  const { records } = await query('example.test', 'DS');
  assert.deepEqual(records, [{ keyTag: 1, algorithm: 13, digestType: 2, digest: 'd4b7' }]);
  assert.deepEqual(hierarchy.asked(EXAMPLE), ['A example.test']);
  const { isAuthentic } = await resolver.ask('example.test', 'DS');
  assert.deepEqual([isAuthentic, await resolver.isValidating(), resolver.hasUpstreams], [false, false, false]);
  const { signal } = new AbortController();
  for (const [name, status] of Object.entries({ 'example.test': 'found', 'bank.other': 'empty' })) {
    const apex = await askApex(resolver, name, { signal });
    const lookup = await resolver.query(name, 'DS');
    const validation = await validationOf(resolver, name, { apex, ds: lookup, signal });
    assert.deepEqual([lookup.status, validation], [status, 'unknown']);
  }
});

it('what does not fit a datagram comes over TCP', async () => {
  const cut: DnsScript = async (q) => {
    const [message] = (await example(q)) as [Buffer];
    return [q.transport === 'udp' && message.length > 1_232 ? authoritative(q, { flags: 0x0200 }) : message];
  };
  await using hierarchy = await startHierarchy({ ...honest, [EXAMPLE]: cut });
  const { records } = await hierarchy.query('big.example.test', 'TXT');
  assert.equal(String(records[0]).length, 20 * 202 + 10);
  assert.ok(hierarchy.asked(EXAMPLE).includes('TXT big.example.test/tcp'));
});

it('a server without glue is looked up, once for all who need it', async () => {
  const glueless = authority({ test: [ns('example.test', 'ns.bank.other'), ns('second.test', 'ns.bank.other')] });
  const both = authority({
    'bank.other': [a('ns.bank.other', BANK)],
    'example.test': [a('www.example.test', '192.0.2.2')],
    'second.test': [a('www.second.test', '192.0.2.3')],
  });
  await using hierarchy = await startHierarchy({ ...honest, [TEST]: glueless, [BANK]: both });
  const lookups = await Promise.all(['www.example.test', 'www.second.test'].map((name) => hierarchy.query(name)));
  for (const [i, { records }] of lookups.entries()) assert.deepEqual(records, [`192.0.2.${2 + i}`]);
  assert.equal(hierarchy.asked(BANK).filter((question) => question === 'A ns.bank.other').length, 1);
});

it('a name that only has others below it is passed, also where its server denies it', async () => {
  const denial = { rcode: 3, authorities: [soa('example.test')] };
  const isDenied = ({ name }: { name: string }) => name.toLowerCase() === 'there.example.test';
  const denying: DnsScript = (q) => (isDenied(q) ? [authoritative(q, denial)] : example(q));
  for (const script of [example, denying]) {
    await using hierarchy = await startHierarchy({ ...honest, [EXAMPLE]: script });
    assert.deepEqual((await hierarchy.query('deep.down.there.example.test')).records, ['192.0.2.3']);
    assert.deepEqual(hierarchy.asked(EXAMPLE), ['A there.example.test', 'A deep.down.there.example.test']);
  }
});

for (const [what, script, status] of [
  ['refuses', rcode(5), 'refused'],
  ['refers upwards', (q) => [reply(q, { authorities: [ns('test', 'a.nic.test')] })], 'servfail'],
  ['refers to itself', (q) => [reply(q, { authorities: [ns('example.test', 'ns1.example.test')] })], 'servfail'],
  ['refers sideways', (q) => [reply(q, { authorities: [ns('bank.other', 'ns.bank.other')] })], 'servfail'],
  ['has nothing in its answer', (q) => [reply(q)], 'servfail'],
  ['fails', rcode(2), 'servfail'],
  ['answers about other names', (q) => [authoritative(q, { answers: [a('www.bank.other', '6.6.6.6')] })], 'malformed'],
  ['is silent', silent, 'timeout'],
] as const satisfies readonly (readonly [string, DnsScript, string])[])
  it(`a zone whose only server ${what} is ${status}, which is a failure and not an absence`, async () => {
    const options = status === 'timeout' ? { tryTimeoutMs: 300, totalTimeoutMs: 1_000 } : {};
    await using hierarchy = await startHierarchy({ ...honest, [EXAMPLE]: script }, options);
    assert.equal((await hierarchy.query('www.example.test')).status, status);
    assert.ok(hierarchy.resolver.stats().failures > 0);
  });

for (const [what, script, questions, options] of [
  ['refuses', rcode(5), 1, {}],
  ['is silent', silent, 4, { tryTimeoutMs: 500 }],
] as const)
  it(`where one of two servers ${what}, the other one's answer counts, and it is asked at most ${questions} times`, async () => {
    await using hierarchy = await startHierarchy({ ...honest, [TEST]: two, [EXAMPLE_TOO]: script }, options);
    for (let i = 0; i < 40; i++) assert.equal((await hierarchy.query(`n${i}.example.test`)).status, 'nxdomain');
    const asked = hierarchy.asked(EXAMPLE_TOO);
    assert.ok(asked.length <= questions, asked.join());
  });

it('an answer without authority is used only where no server has a better one', async () => {
  const hearsay: DnsScript = (q) => [reply(q, { answers: [a(q.name, '6.6.6.6')] })];
  await using better = await startHierarchy({ ...honest, [TEST]: two, [EXAMPLE_TOO]: hearsay });
  for (let i = 0; i < 10; i++) assert.equal((await better.query(`n${i}.example.test`)).status, 'nxdomain');
  await using alone = await startHierarchy({ ...honest, [EXAMPLE]: hearsay });
  assert.deepEqual((await alone.query('www.example.test')).records, ['6.6.6.6']);
});

it('a zone that has been silent is not waited for by every question', async () => {
  const options = { tryTimeoutMs: 300, totalTimeoutMs: 3_000 };
  await using hierarchy = await startHierarchy({ ...honest, [EXAMPLE]: silent }, options);
  for (let i = 0; i < 20; i++) assert.equal((await hierarchy.query(`n${i}.example.test`)).status, 'timeout');
  assert.ok(hierarchy.asked(EXAMPLE).length <= 8, `${hierarchy.asked(EXAMPLE).length} packets`);
});

it('a server that does not support EDNS0 is asked without', async () => {
  const old: DnsScript = (q) => (q.bytes.readUInt16BE(10) > 0 ? [reply(q, { rcode: 1 })] : example(q));
  await using hierarchy = await startHierarchy({ ...honest, [EXAMPLE]: old });
  for (const name of ['www.example.test', 'example.test']) assert.equal((await hierarchy.query(name)).status, 'found');
  assert.equal(hierarchy.asked(EXAMPLE).length, 3);
});

it('on the simulated internet it finds what a recursive resolver finds, for every company in order', async () => {
  await using internet = await createInternet({ domains: 120, vantage: { lossShare: 0, poisonShare: 0 } });
  const patience = { tryTimeoutMs: 20_000, totalTimeoutMs: 30_000, allowAddresses: ['127.53.0.0/16'] };
  await using stub = new Resolver({ upstreams: [internet.resolver], ...patience });
  await using iterative = new Resolver({ upstreams: ['iterative', internet.root], ...patience });
  const sound = internet.domains().filter((name) => internet.truth(name).state !== 'broken');
  assert.ok(sound.length > 108);
  await Promise.all(
    sound.map(async (domain) => {
      const questions = [
        ...(['NS', 'SOA', 'A', 'AAAA', 'MX', 'TXT', 'CAA', 'DS'] as const).map((type) => [domain, type] as const),
        ...['www', 'autodiscover', 'nobody-set-this'].map((label) => [`${label}.${domain}`, 'A'] as const),
        [`_dmarc.${domain}`, 'TXT'] as const,
        [`_dmarc.${domain.slice(domain.indexOf('.') + 1)}`, 'TXT'] as const,
      ];
      for (const [name, type] of questions) {
        const [ours, theirs] = await Promise.all([iterative.query(name, type), stub.query(name, type)]);
        assert.equal(plain(ours), plain(theirs), `${type} ${name}: ${ours.detail}`);
      }
    }),
  );
});
