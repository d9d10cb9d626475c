// The resolver against servers that answer well, badly, late, or not at all, over real sockets.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Answer } from 'dns-packet';
import { casesOf } from '../../../../tests/support/vectors.ts';
import {
  a,
  aaaa,
  cname,
  type DnsQuestion,
  type DnsScript,
  ds,
  mx,
  ns,
  reply,
  soa,
  startDnsServer,
  txt,
  zone,
} from '../test/dns-server.ts';
import { found, lookUp, rcode, scriptedResolver, silent } from '../test/scripted-resolver.ts';
import type { RecordType } from './message/records.ts';
import { Resolver } from './resolver.ts';

const records: readonly Answer[] = [
  a('host.test', '192.0.2.1'),
  aaaa('host.test', '2001:db8::1'),
  ns('host.test', 'NS1.Host.TEST'),
  mx('host.test', 'MX.host.test'),
  mx('null.test', '.', 0),
  { type: 'CAA', name: 'host.test', ttl: 60, data: { flags: 128, tag: 'issue', value: 'ca.test' } },
  ds('host.test'),
  soa('host.test'),
  txt('host.test', 'v=spf1 include:a', 'b.test -all'),
  txt('bytes.test', Buffer.from([0x61, 0x00, 0x62, 0xff]), Buffer.from([0xc3]), Buffer.from([0xa9])),
];
const expected = casesOf<[string, RecordType, unknown[]][]>('scan', 'values of records');

it('records of each type come out as their values, and absence is empty or nxdomain, as the server answers', async () => {
  await using scripted = await scriptedResolver([zone(records)]);
  const { resolver } = scripted;
  for (const [name, type, values] of expected)
    assert.deepEqual(await resolver.query(name, type), { status: 'found', records: values, aliases: [] });
  assert.equal((await resolver.query('null.test', 'A')).status, 'empty');
  assert.equal((await resolver.query('missing.test', 'A')).status, 'nxdomain');
});

it('SERVFAIL at one upstream is made good by the next', async () => {
  await using scripted = await scriptedResolver([rcode(2), found]);
  for (const name of ['a.test', 'A.test.']) assert.equal((await scripted.resolver.query(name, 'A')).status, 'found');
  assert.deepEqual(scripted.servers[1]?.asked, ['A a.test']);
});

it('a closed port is noticed at once and the next upstream asked', async () => {
  const stopped = await startDnsServer(silent);
  const { port } = stopped;
  await stopped[Symbol.asyncDispose]();
  await using good = await startDnsServer(found);
  await using resolver = new Resolver({ upstreams: [{ address: '127.0.0.1', port }, good], tryTimeoutMs: 60_000 });
  for (const name of ['a.test', 'b.test']) assert.equal((await resolver.query(name, 'A')).status, 'found');
});

const framed = (q: DnsQuestion) => {
  const [bytes = Buffer.alloc(0)] = found(q) as Buffer[];
  return { raw: Buffer.concat([Buffer.from([0, bytes.length]), bytes]) };
};
const late = (q: DnsQuestion) => new Promise((done) => setTimeout(done, 20)).then(() => found(q) as Buffer[]);
/** By what a server does with the n-th of its queries over TCP. */
for (const [what, script] of Object.entries<(q: DnsQuestion, n: number) => ReturnType<DnsScript>>({
  'answers in any order': (q, n) => (n % 3 ? found(q) : late(q)),
  'closes a connection without an answer once it has answered': (q, n) =>
    n === 7 ? { raw: Buffer.alloc(0) } : found(q),
  'closes each connection after an answer': framed,
  'sends a byte at a time': (q, n) => (n === 0 ? { drip: framed(q).raw } : found(q)),
}))
  it(`over kept TCP connections no question of many is lost at a server that ${what}`, async () => {
    let n = 0;
    await using server = await startDnsServer((q) => script(q, n++));
    await using resolver = new Resolver({ upstreams: [{ ...server, transport: 'tcp' }], tries: 1 });
    // The first alone: bytes that drip would cut other answers apart.
    for (const names of [['h.test'], Array.from({ length: 100 }, (_, i) => `h${i}.test`)])
      for (const { status, detail } of await Promise.all(names.map((name) => resolver.query(name, 'A'))))
        assert.equal(status, 'found', detail);
    assert.ok(server.asked.every((question) => question.endsWith('/tcp')));
  });

it('a dangling alias is kept', async () => {
  const dangling = { answers: [cname('a.test', 'missing.test')], authorities: [soa('test')], rcode: 3 };
  const { asked: _asked, ...lookup } = await lookUp((q) => [reply(q, dangling)]);
  assert.deepEqual(lookup, { status: 'nxdomain', records: [], aliases: ['missing.test'] });
});

it('equal questions in flight are one, and the answer is kept for its TTL only', async () => {
  const ttlOf = (name: string) => (name === 'zero.test' ? 0 : 300);
  const script: typeof found = (q) => [reply(q, { answers: [a(q.name, '192.0.2.1', ttlOf(q.name))] })];
  await using scripted = await scriptedResolver([script]);
  const query = (name: string) => scripted.resolver.query(name, 'A');
  await Promise.all(['a.test', 'A.TEST', 'zero.test'].map(query));
  await query('a.test');
  await query('zero.test');
  assert.deepEqual(scripted.asked.toSorted(), ['A a.test', 'A zero.test', 'A zero.test']);
});

it('absence is kept for the SOA minimum unless that is zero, failure is not kept', async () => {
  const absence = (name: string) => ({ rcode: 3, authorities: [soa('test', name === 'zero.test' ? 0 : 60)] });
  const script: typeof found = (q) => [reply(q, q.name === 'bad.test' ? { rcode: 2 } : absence(q.name))];
  await using scripted = await scriptedResolver([script]);
  const absent = { 'no.test': ['nxdomain', 1], 'zero.test': ['nxdomain', 2], 'bad.test': ['servfail', 2] };
  for (const [name, [status, questions]] of Object.entries(absent)) {
    for (let i = 0; i < 2; i++) assert.equal((await scripted.resolver.query(name, 'A')).status, status);
    assert.equal(scripted.asked.filter((each) => each === `A ${name}`).length, questions, name);
  }
});

it('one that leaves does not spoil the answer of one that stays', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using scripted = await scriptedResolver([(q) => promise.then(() => found(q) as Buffer[])]);
  const leaving = new AbortController();
  const left = scripted.resolver.query('a.test', 'A', { signal: leaving.signal });
  const stays = scripted.resolver.query('a.test', 'A', { signal: new AbortController().signal });
  leaving.abort(new Error('aborted'));
  await assert.rejects(left, /aborted/);
  resolve();
  assert.equal((await stays).status, 'found');
});

it('the limit of questions in flight holds, and no question is lost in the queue', async () => {
  const open = { now: 0, max: 0 };
  const counting = async (q: Parameters<typeof found>[0]) => {
    open.max = Math.max(open.max, ++open.now);
    await new Promise((done) => setImmediate(done));
    open.now -= 1;
    return found(q) as Buffer[];
  };
  await using scripted = await scriptedResolver([counting], { maxInFlight: 8 });
  const all = Array.from({ length: 200 }, (_, i) => scripted.resolver.query(`h${i}.test`, 'A'));
  for (const { status } of await Promise.all(all)) assert.equal(status, 'found');
  assert.ok(open.max <= 8, `${open.max} at once`);
});

it('a name that DNS cannot carry is not sent', async () => {
  await using scripted = await scriptedResolver([silent]);
  const long = [`${'x'.repeat(64)}.test`, `${'x.'.repeat(127)}test`];
  for (const name of ['', '.', 'a..test', 'a b.test', 'ä.test', 'a\\.test', ...long])
    assert.equal((await scripted.resolver.query(name, 'A')).status, 'skipped', name);
  assert.deepEqual(scripted.asked, []);
});
