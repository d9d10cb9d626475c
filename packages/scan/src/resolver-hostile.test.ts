// The resolver against servers that lie, over real sockets.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { a, cname, type DnsScript, reply, txt } from './test/dns-server.ts';
import { IMPATIENT, rcode, silent, spoilt, truncated, withServers } from './test/scripted-resolver.ts';

describe('hostile answers', () => {
  const cases: readonly [string, DnsScript, string][] = [
    [
      'garbage after the question',
      (q) => [
        Buffer.concat([
          q.bytes.subarray(0, 2),
          Buffer.from([0x81, 0x80, 0, 1, 0, 9, 0, 0, 0, 0]),
          q.bytes.subarray(12, -11),
          Buffer.alloc(40, 0xff),
        ]),
      ],
      'malformed',
    ],
    [
      'an A record of 16 bytes',
      spoilt((b) => Buffer.concat([b.subarray(0, -6), Buffer.from([0, 16]), Buffer.alloc(16, 8)])),
      'malformed',
    ],
    ['an A record that says 65535 bytes', spoilt((b) => void b.writeUInt16BE(65535, b.length - 6)), 'malformed'],
    ['more answers than there are', spoilt((b) => void b.writeUInt16BE(500, 6)), 'malformed'],
    [
      'a compression pointer to itself',
      (q) => {
        const b = reply(q, { answers: [cname(q.name, 'x.test')] });
        const at = b.length - 8;
        b[at] = 0xc0;
        b[at + 1] = at;
        return [b];
      },
      'malformed',
    ],
    ['an answer for another name', (q) => [reply(q, { answers: [a('other.test', '192.0.2.9')] })], 'malformed'],
    ['a CNAME to itself', (q) => [reply(q, { answers: [cname(q.name, q.name)] })], 'malformed'],
    [
      'a CNAME loop of two',
      (q) => [reply(q, { answers: [cname(q.name, 'b.test'), cname('b.test', q.name)] })],
      'malformed',
    ],
    [
      'a CNAME loop over several answers',
      (q) => [reply(q, { answers: [cname(q.name, q.name === 'a.test' ? 'b.test' : 'a.test')] })],
      'malformed',
    ],
    ['an endless CNAME chain', (q) => [reply(q, { answers: [cname(q.name, `x${q.name}`)] })], 'malformed'],
    ['REFUSED', rcode(5), 'refused'],
    ['SERVFAIL', rcode(2), 'servfail'],
    [
      'an error without question',
      (q) => [Buffer.from([q.id >> 8, q.id & 255, 0x81, 0x85, 0, 0, 0, 0, 0, 0, 0, 0])],
      'refused',
    ],
    [
      'truncation, and a lie about the length over TCP',
      truncated(() => ({ raw: Buffer.from([0xff, 0xff, 1, 2, 3]) })),
      'malformed',
    ],
    [
      'truncation, and 10 MB of records over TCP',
      truncated((q) => {
        const record = reply(q, { answers: [a(q.name, '192.0.2.1')] }).subarray(q.bytes.length - 11);
        const head = reply(q);
        head.writeUInt16BE(0xffff, 6);
        const flood = Buffer.alloc(10_000_000, record);
        return { raw: Buffer.concat([Buffer.from([0xff, 0xff]), head, flood]) };
      }),
      'malformed',
    ],
  ];
  for (const [what, script, status] of cases) {
    it(`${what} ends as ${status}`, () =>
      withServers([script], async (resolver) => {
        const lookup = await resolver.query('a.test', 'A');
        assert.equal(lookup.status, status, lookup.detail);
        assert.deepEqual(lookup.records, []);
      }));
  }

  it('what does not answer the question is ignored until the time-out', async () => {
    const wrongId: DnsScript = (q) => [reply({ ...q, id: q.id ^ 1 }, { answers: [a(q.name, '192.0.2.66')] })];
    const other: DnsScript = (q) => [reply({ ...q, name: 'evil.test' }, { answers: [a('evil.test', '192.0.2.66')] })];
    const echo: DnsScript = (q) => [q.bytes];
    const ignored = [silent, wrongId, other, echo].map((script) =>
      withServers(
        [script],
        async (resolver) => {
          const { status, records } = await resolver.query('a.test', 'A');
          assert.deepEqual([status, records], ['timeout', []]);
        },
        IMPATIENT,
      ),
    );
    await Promise.all(ignored);
  });

  it('an answer for another name alone is asked for again', async () => {
    const astray: DnsScript = (q) => [reply(q, { answers: [a('other.test', '192.0.2.9')] })];
    const truthful: DnsScript = (q) => [reply(q, { answers: [a(q.name, '192.0.2.1')] })];
    let count = 0;
    await withServers([(q) => (count++ === 0 ? astray(q) : truthful(q))], async (resolver, [server]) => {
      assert.deepEqual((await resolver.query('a.test', 'A')).records, ['192.0.2.1']);
      assert.deepEqual(server?.asked, ['A a.test', 'A a.test']);
    });
    await withServers([astray, truthful], async (resolver) => {
      for (const name of ['a.test', 'b.test'])
        assert.deepEqual((await resolver.query(name, 'A')).records, ['192.0.2.1'], 'the other upstream knows better');
    });
    await withServers([astray], async (resolver, [server]) => {
      const { status, detail } = await resolver.query('a.test', 'A');
      assert.equal(status, 'malformed');
      assert.match(detail ?? '', /another name/);
      assert.equal(server?.asked.length, 4);
    });
  });

  it('a forged answer before the true one is passed over', () =>
    withServers(
      [
        (q) => [
          reply({ ...q, name: 'evil.test' }, { answers: [a('evil.test', '192.0.2.66')] }),
          reply(q, { answers: [a(q.name, '192.0.2.1')] }),
        ],
      ],
      async (resolver) => {
        assert.deepEqual((await resolver.query('a.test', 'A')).records, ['192.0.2.1']);
      },
    ));

  it('a dot inside a label cannot pass for two labels', () =>
    withServers(
      [
        (q) => {
          const b = reply(q, { answers: [{ type: 'NS', name: q.name, ttl: 1, data: 'ns-evil.test' }] });
          const at = b.indexOf('ns-evil');
          b[at + 2] = 0x2e;
          return [b];
        },
      ],
      async (resolver) => {
        assert.deepEqual((await resolver.query('a.test', 'NS')).records, ['ns\\046evil.test']);
      },
    ));

  it('a 64 KB TXT set comes over TCP whole', () =>
    withServers(
      [
        truncated((q) => [
          reply(q, { answers: Array.from({ length: 240 }, (_, i) => txt(q.name, String(i).padEnd(250, 'x'))) }),
        ]),
      ],
      async (resolver) => {
        const lookup = await resolver.query('a.test', 'TXT');
        assert.equal(lookup.status, 'found');
        assert.equal(lookup.records.length, 240);
        assert.equal(lookup.records.at(-1)?.slice(0, 4), '239x');
      },
    ));

  it('damage to any byte never throws and never invents an address', () =>
    withServers(
      [
        (q) => {
          const b = reply(q, { answers: [cname(q.name, 'b.test'), a('b.test', '192.0.2.1')] });
          const seed = Number(q.name.slice(1, -5));
          const at = 12 + (seed % (b.length - 12));
          b[at] = (seed * 101) & 0xff;
          return [b];
        },
      ],
      async (resolver) => {
        const lookups = await Promise.all(Array.from({ length: 400 }, (_, i) => resolver.query(`h${i}.test`, 'A')));
        for (const { status, records } of lookups) assert.ok(status === 'found' || records.length === 0);
      },
      IMPATIENT,
    ));
});
