// The resolver when servers drip, cut off, know no EDNS0, or are still thinking while it is disposed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import dnsPacket from 'dns-packet';
import { encodeQuery } from './message.ts';
import { Resolver, type ResolverOptions } from './resolver.ts';
import { a, cname, type DnsQuestion, type DnsScript, reply, soa, startDnsServer } from './test/dns-server.ts';

async function withServer(
  script: DnsScript,
  test: (resolver: Resolver, asked: readonly string[]) => Promise<void>,
  options: ResolverOptions = {},
) {
  await using server = await startDnsServer(script);
  await using resolver = new Resolver({ upstreams: [server], tryTimeoutMs: 150, totalTimeoutMs: 400, ...options });
  await test(resolver, server.asked);
}

const truncated = (question: DnsQuestion) => [reply(question, { flags: dnsPacket.TRUNCATED_RESPONSE })];
/** Over TCP, a byte at a time: a length of 500, then the beginning of something. */
const drip = (q: DnsQuestion) => ({ drip: Buffer.concat([Buffer.from([1, 244]), q.bytes]) });
const numbered = (count: number) =>
  Array.from({ length: count }, (_, i) => a('a.test', `192.0.${2 + (i >> 8)}.${i & 255}`));

it('a server that answers FORMERR to EDNS0 is asked again without it', () =>
  withServer(
    (q) => [reply(q, q.bytes[11] === 1 ? { rcode: 1 } : { answers: [a(q.name, '192.0.2.1')] })],
    async (resolver, asked) => {
      assert.deepEqual((await resolver.query('a.test', 'A')).records, ['192.0.2.1']);
      assert.deepEqual(asked, ['A a.test', 'A a.test']);
    },
  ));

it('FORMERR to the plain question too is a failure, after one repetition', () =>
  withServer(
    (q) => [reply(q, { rcode: 1 })],
    async (resolver, asked) => {
      const lookup = await resolver.query('a.test', 'A');
      assert.equal(lookup.status, 'servfail');
      assert.match(lookup.detail ?? '', /response code 1/);
      assert.equal(asked.length, 2);
    },
  ));

it('records that do not fit a datagram come over TCP, 500 of 600 are kept, and it is said', () =>
  withServer(
    (q) => (q.transport === 'udp' ? truncated(q) : [reply(q, { answers: numbered(600) })]),
    async (resolver) => {
      const lookup = await resolver.query('a.test', 'A');
      assert.equal(lookup.status, 'found');
      assert.equal(lookup.records.length, 500);
      assert.match(lookup.detail ?? '', /only 500 of 600/);
    },
  ));

it('a TCP server that drips bytes gets no more time than a silent one', () =>
  withServer(
    (q) => (q.transport === 'udp' ? truncated(q) : drip(q)),
    async (resolver) => {
      const startedAt = performance.now();
      assert.equal((await resolver.query('a.test', 'A')).status, 'timeout');
      assert.ok(performance.now() - startedAt < 3_000);
    },
  ));

it('a chain of 20 links is too long, and a chain of 16 is not', () =>
  withServer(
    (q) => {
      const links = q.name === 'long.test' ? 20 : 16;
      const names = [q.name, ...Array.from({ length: links }, (_, i) => `l${i}.test`)];
      const answers = names.slice(1).map((to, i) => cname(names[i] ?? '', to));
      return [reply(q, { answers: [...answers, a(names.at(-1) ?? '', '192.0.2.1')] })];
    },
    async (resolver) => {
      assert.equal((await resolver.query('long.test', 'A')).status, 'malformed');
      const { status, aliases } = await resolver.query('short.test', 'A');
      assert.equal(status, 'found');
      assert.equal(aliases.length, 16);
    },
  ));

it('absence with an SOA minimum of zero is asked for again', () =>
  withServer(
    (q) => [reply(q, { rcode: 3, authorities: [soa('test', 0)] })],
    async (resolver, asked) => {
      for (let i = 0; i < 2; i++) assert.equal((await resolver.query('a.test', 'A')).status, 'nxdomain');
      assert.equal(asked.length, 2);
    },
  ));

it('an empty answer for a class that nobody asked for is no record', () =>
  withServer(
    (q) => {
      const bytes = reply(q, { answers: [a(q.name, '192.0.2.1')] });
      bytes.writeUInt16BE(3, bytes.length - 12);
      return [bytes];
    },
    async (resolver) => {
      assert.deepEqual((await resolver.query('a.test', 'A')).records, []);
    },
  ));

it('time-outs and failures give their places back', () =>
  withServer(
    (q) => (q.name.startsWith('silent') ? [] : [reply(q, { answers: [a(q.name, '192.0.2.1')] })]),
    async (resolver) => {
      const silent = Array.from({ length: 6 }, (_, i) => resolver.query(`silent${i}.test`, 'A'));
      for (const { status } of await Promise.all(silent)) assert.equal(status, 'timeout');
      assert.equal((await resolver.query('a.test', 'A')).status, 'found');
    },
    { maxInFlight: 2, tryTimeoutMs: 40, totalTimeoutMs: 80 },
  ));

it('an abort stops the caller at once, in flight and in line', () =>
  withServer(
    () => [],
    async (resolver) => {
      const leaving = new AbortController();
      const waits = ['a.test', 'b.test', 'c.test'].map((name) => resolver.query(name, 'A', { signal: leaving.signal }));
      const startedAt = performance.now();
      setTimeout(() => leaving.abort(new Error('left')), 30);
      for (const { status, reason } of (await Promise.allSettled(waits)) as PromiseRejectedResult[]) {
        assert.equal(status, 'rejected');
        assert.match(String(reason), /left/);
      }
      assert.ok(performance.now() - startedAt < 4_000);
    },
    { maxInFlight: 1, tryTimeoutMs: 8_000, totalTimeoutMs: 8_000 },
  ));

for (const [what, script] of [
  ['over UDP', () => []],
  ['over TCP', (q) => (q.transport === 'udp' ? truncated(q) : drip(q))],
] as const satisfies readonly (readonly [string, DnsScript])[]) {
  it(`disposing settles questions in flight ${what}, in line, and asked later`, async () => {
    await using server = await startDnsServer(script);
    const resolver = new Resolver({
      upstreams: [server],
      maxInFlight: 2,
      tryTimeoutMs: 10_000,
      totalTimeoutMs: 10_000,
    });
    const startedAt = performance.now();
    const waits = Array.from({ length: 5 }, (_, i) => resolver.query(`h${i}.test`, 'A'));
    await new Promise((done) => setTimeout(done, 60));
    await resolver[Symbol.asyncDispose]();
    for (const { status } of await Promise.all(waits)) assert.equal(status, 'skipped');
    assert.equal((await resolver.query('late.test', 'A')).status, 'skipped');
    assert.ok(performance.now() - startedAt < 5_000);
  });
}

it('a name of strange bytes in an answer stays one name', () =>
  withServer(
    (q) => {
      const bytes = reply(q, { answers: [{ type: 'NS', name: q.name, ttl: 1, data: 'abcd.test' }] });
      bytes.set([0x00, 0xff, 0x20, 0x5c], bytes.indexOf('abcd'));
      return [bytes];
    },
    async (resolver) => {
      assert.deepEqual((await resolver.query('a.test', 'NS')).records, ['\\000\\255\\032\\092.test']);
    },
  ));

it('a question is the same for every server but in its id', () => {
  assert.deepEqual(encodeQuery('a.test', 'A'), encodeQuery('a.test', 'A'));
});
