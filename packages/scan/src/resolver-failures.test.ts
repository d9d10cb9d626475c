// The resolver when servers drip, cut off, know no EDNS0, or are still thinking while it is disposed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../../../tests/support/until.ts';
import { encodeQuery } from './message.ts';
import { a, cname, type DnsQuestion, reply, soa } from './test/dns-server.ts';
import { IMPATIENT, rcode, silent, truncated, withServers } from './test/scripted-resolver.ts';

/** Over TCP, a byte at a time: a length of 500, then the beginning of something. */
const drip = (q: DnsQuestion) => ({ drip: Buffer.concat([Buffer.from([1, 244]), q.bytes]) });
const numbered = (count: number) =>
  Array.from({ length: count }, (_, i) => a('a.test', `192.0.${2 + (i >> 8)}.${i & 255}`));

it('a server that answers FORMERR to EDNS0 is asked again without it', () =>
  withServers(
    [(q) => [reply(q, q.bytes[11] === 1 ? { rcode: 1 } : { answers: [a(q.name, '192.0.2.1')] })]],
    async (resolver, [server]) => {
      assert.deepEqual((await resolver.query('a.test', 'A')).records, ['192.0.2.1']);
      assert.deepEqual(server?.asked, ['A a.test', 'A a.test']);
    },
  ));

it('FORMERR to the plain question too is a failure, after one repetition', () =>
  withServers([rcode(1)], async (resolver, [server]) => {
    const lookup = await resolver.query('a.test', 'A');
    assert.equal(lookup.status, 'servfail');
    assert.match(lookup.detail ?? '', /response code 1/);
    assert.equal(server?.asked.length, 2);
  }));

it('records that do not fit a datagram come over TCP, 500 of 600 are kept, and it is said', () =>
  withServers([truncated((q) => [reply(q, { answers: numbered(600) })])], async (resolver) => {
    const lookup = await resolver.query('a.test', 'A');
    assert.equal(lookup.status, 'found');
    assert.equal(lookup.records.length, 500);
    assert.match(lookup.detail ?? '', /only 500 of 600/);
  }));

it('a TCP server that drips bytes gets no more time than a silent one', () =>
  withServers(
    [truncated(drip)],
    async (resolver) => {
      assert.equal((await resolver.query('a.test', 'A')).status, 'timeout');
    },
    IMPATIENT,
  ));

it('a chain of 20 links is too long, and a chain of 16 is not', () =>
  withServers(
    [
      (q) => {
        const links = q.name === 'long.test' ? 20 : 16;
        const names = [q.name, ...Array.from({ length: links }, (_, i) => `l${i}.test`)];
        const answers = names.slice(1).map((to, i) => cname(names[i] ?? '', to));
        return [reply(q, { answers: [...answers, a(names.at(-1) ?? '', '192.0.2.1')] })];
      },
    ],
    async (resolver) => {
      assert.equal((await resolver.query('long.test', 'A')).status, 'malformed');
      const { status, aliases } = await resolver.query('short.test', 'A');
      assert.equal(status, 'found');
      assert.equal(aliases.length, 16);
    },
  ));

it('absence with an SOA minimum of zero is asked for again', () =>
  withServers([(q) => [reply(q, { rcode: 3, authorities: [soa('test', 0)] })]], async (resolver, [server]) => {
    for (let i = 0; i < 2; i++) assert.equal((await resolver.query('a.test', 'A')).status, 'nxdomain');
    assert.equal(server?.asked.length, 2);
  }));

it('an empty answer for a class that nobody asked for is no record', () =>
  withServers(
    [
      (q) => {
        const bytes = reply(q, { answers: [a(q.name, '192.0.2.1')] });
        bytes.writeUInt16BE(3, bytes.length - 12);
        return [bytes];
      },
    ],
    async (resolver) => {
      assert.deepEqual((await resolver.query('a.test', 'A')).records, []);
    },
  ));

it('time-outs and failures give their places back', () =>
  withServers(
    [(q) => (q.name.startsWith('silent') ? [] : [reply(q, { answers: [a(q.name, '192.0.2.1')] })])],
    async (resolver) => {
      const silent = Array.from({ length: 6 }, (_, i) => resolver.query(`silent${i}.test`, 'A'));
      for (const { status } of await Promise.all(silent)) assert.equal(status, 'timeout');
      assert.equal((await resolver.query('a.test', 'A')).status, 'found');
    },
    { maxInFlight: 2, ...IMPATIENT },
  ));

it('an abort stops the caller at once, in flight and in line', () =>
  withServers(
    [silent],
    async (resolver) => {
      const leaving = new AbortController();
      const waits = ['a.test', 'b.test', 'c.test'].map((name) => resolver.query(name, 'A', { signal: leaving.signal }));
      setTimeout(() => leaving.abort(new Error('left')), 30);
      for (const { status, reason } of (await Promise.allSettled(waits)) as PromiseRejectedResult[]) {
        assert.equal(status, 'rejected');
        assert.match(String(reason), /left/);
      }
    },
    { maxInFlight: 1 },
  ));

for (const [what, script] of [
  ['over UDP', silent],
  ['over TCP', truncated(drip)],
] as const) {
  it(`disposing settles questions in flight ${what}, in line, and asked later`, () =>
    withServers(
      [script],
      async (resolver, [server]) => {
        const waits = Array.from({ length: 5 }, (_, i) => resolver.query(`h${i}.test`, 'A'));
        await until(() => server?.asked.at(-1)?.endsWith('/tcp') || (script === silent && server?.asked.length === 2));
        await resolver[Symbol.asyncDispose]();
        for (const { status } of await Promise.all(waits)) assert.equal(status, 'skipped');
        assert.equal((await resolver.query('late.test', 'A')).status, 'skipped');
      },
      { maxInFlight: 2 },
    ));
}

it('a name of strange bytes in an answer stays one name', () =>
  withServers(
    [
      (q) => {
        const bytes = reply(q, { answers: [{ type: 'NS', name: q.name, ttl: 1, data: 'abcd.test' }] });
        bytes.set([0x00, 0xff, 0x20, 0x5c], bytes.indexOf('abcd'));
        return [bytes];
      },
    ],
    async (resolver) => {
      assert.deepEqual((await resolver.query('a.test', 'NS')).records, ['\\000\\255\\032\\092.test']);
    },
  ));

it('a question is the same for every server but in its id', () => {
  assert.deepEqual(encodeQuery('a.test', 'A'), encodeQuery('a.test', 'A'));
});
