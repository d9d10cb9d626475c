// The resolver against servers that answer well, badly, late, or not at all, over real sockets.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import dnsPacket, { type Answer } from 'dns-packet';
import { Resolver, type ResolverOptions } from './resolver.ts';
import { a, cname, type DnsScript, type DnsServer, reply, soa, startDnsServer, txt, zone } from './test/dns-server.ts';

/** Lets `test` ask a resolver whose upstreams follow the scripts. */
async function withServers(
  scripts: readonly DnsScript[],
  test: (resolver: Resolver, servers: readonly DnsServer[]) => Promise<void>,
  options: ResolverOptions = {},
) {
  const servers = await Promise.all(scripts.map(startDnsServer));
  const resolver = new Resolver({ upstreams: servers, tryTimeoutMs: 150, totalTimeoutMs: 400, ...options });
  try {
    await test(resolver, servers);
  } finally {
    await resolver[Symbol.asyncDispose]();
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  }
}

const rcode =
  (code: number): DnsScript =>
  (question) => [reply(question, { rcode: code })];
const silent: DnsScript = () => [];
/** An honest one-record answer whose bytes are then spoilt. */
const spoilt =
  (spoil: (bytes: Buffer) => Buffer): DnsScript =>
  (question) => [spoil(reply(question, { answers: [a(question.name, '192.0.2.1')] }))];

describe('records', () => {
  const records: readonly Answer[] = [
    a('host.test', '192.0.2.1'),
    { type: 'AAAA', name: 'host.test', ttl: 60, data: '2001:db8::1' },
    { type: 'NS', name: 'host.test', ttl: 60, data: 'NS1.Host.TEST' },
    { type: 'MX', name: 'host.test', ttl: 60, data: { preference: 10, exchange: 'MX.host.test' } },
    { type: 'MX', name: 'null.test', ttl: 60, data: { preference: 0, exchange: '.' } },
    { type: 'CAA', name: 'host.test', ttl: 60, data: { flags: 128, tag: 'issue', value: 'ca.test' } },
    {
      type: 'DS',
      name: 'host.test',
      ttl: 60,
      data: { keyTag: 60485, algorithm: 8, digestType: 2, digest: Buffer.from('d4b7', 'hex') },
    },
    soa('host.test'),
    txt('host.test', 'v=spf1 include:a', 'b.test -all'),
    txt('bytes.test', Buffer.from([0x61, 0x00, 0x62, 0xff]), Buffer.from([0xc3]), Buffer.from([0xa9])),
  ];
  const expected = [
    ['host.test', 'A', ['192.0.2.1']],
    ['host.test', 'AAAA', ['2001:db8::1']],
    ['host.test', 'NS', ['ns1.host.test']],
    ['host.test', 'MX', [{ preference: 10, exchange: 'mx.host.test' }]],
    ['null.test', 'MX', [{ preference: 0, exchange: '' }]],
    ['host.test', 'CAA', [{ critical: true, tag: 'issue', value: 'ca.test' }]],
    ['host.test', 'DS', [{ keyTag: 60485, algorithm: 8, digestType: 2, digest: 'd4b7' }]],
    ['host.test', 'SOA', [{ mname: 'ns1.host.test', rname: 'hostmaster.host.test', serial: 7 }]],
    ['host.test', 'TXT', ['v=spf1 include:ab.test -all']],
    ['bytes.test', 'TXT', ['a\0b\ufffd\u00e9']],
  ] as const;
  for (const [name, type, values] of expected) {
    it(`${type} of ${name} comes out as its values`, () =>
      withServers([zone(records)], async (resolver) => {
        const lookup = await resolver.query(name, type);
        assert.deepEqual(lookup, { status: 'found', records: values, aliases: [] });
      }));
  }

  it('absence is empty or nxdomain, as the server says', () =>
    withServers([zone(records)], async (resolver) => {
      assert.equal((await resolver.query('null.test', 'A')).status, 'empty');
      assert.equal((await resolver.query('gone.test', 'A')).status, 'nxdomain');
    }));
});

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
    [
      'an A record that says 65535 bytes',
      spoilt((b) => {
        b.writeUInt16BE(65535, b.length - 6);
        return b;
      }),
      'malformed',
    ],
    [
      'more answers than there are',
      spoilt((b) => {
        b.writeUInt16BE(500, 6);
        return b;
      }),
      'malformed',
    ],
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
    ['silence', silent, 'timeout'],
    [
      'a wrong id',
      (q) => {
        const b = reply(q, { answers: [a(q.name, '192.0.2.66')] });
        b.writeUInt16BE(b.readUInt16BE(0) ^ 1, 0);
        return [b];
      },
      'timeout',
    ],
    [
      'an answer to another question',
      (q) => [reply({ ...q, name: 'evil.test' }, { answers: [a('evil.test', '192.0.2.66')] })],
      'timeout',
    ],
    ['its own question sent back', (q) => [q.bytes], 'timeout'],
    [
      'an error without question',
      (q) => [Buffer.from([q.id >> 8, q.id & 255, 0x81, 0x85, 0, 0, 0, 0, 0, 0, 0, 0])],
      'refused',
    ],
    [
      'truncation, and a lie about the length over TCP',
      (q) =>
        q.transport === 'udp'
          ? [reply(q, { flags: dnsPacket.TRUNCATED_RESPONSE })]
          : { raw: Buffer.from([0xff, 0xff, 1, 2, 3]) },
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

  it('a 64 KB TXT set comes over TCP and is cut', () =>
    withServers(
      [
        (q) => [
          q.transport === 'udp'
            ? reply(q, { flags: dnsPacket.TRUNCATED_RESPONSE })
            : reply(q, { answers: Array.from({ length: 240 }, (_, i) => txt(q.name, String(i).padEnd(250, 'x'))) }),
        ],
      ],
      async (resolver) => {
        const lookup = await resolver.query('a.test', 'TXT');
        assert.equal(lookup.status, 'found');
        assert.ok(lookup.records.join('').length <= 40_000, `${lookup.records.join('').length} characters kept`);
        assert.match(lookup.detail ?? '', /cut/);
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
    ));
});

describe('resolving', () => {
  it('SERVFAIL at one upstream is made good by the next', () =>
    withServers([rcode(2), zone([a('a.test', '192.0.2.1')])], async (resolver, servers) => {
      for (const name of ['a.test', 'A.test.']) assert.equal((await resolver.query(name, 'A')).status, 'found');
      assert.deepEqual(servers[1]?.asked, ['A a.test']);
    }));

  it('a closed port is noticed at once and the next upstream asked', async () => {
    const gone = await startDnsServer(silent);
    const { port } = gone;
    await gone[Symbol.asyncDispose]();
    await using good = await startDnsServer(zone([a('a.test', '192.0.2.1'), a('b.test', '192.0.2.1')]));
    await using resolver = new Resolver({ upstreams: [{ address: '127.0.0.1', port }, good], tryTimeoutMs: 5_000 });
    const startedAt = performance.now();
    for (const name of ['a.test', 'b.test']) assert.equal((await resolver.query(name, 'A')).status, 'found');
    assert.ok(performance.now() - startedAt < 4_000);
  });

  it('a chain cut short is taken up again, and its links are all told', () =>
    withServers(
      [
        (q) => [
          reply(q, {
            answers:
              q.name === 'a.test' ? [cname('a.test', 'b.test')] : [cname('b.test', 'c.test'), a('c.test', '192.0.2.1')],
          }),
        ],
      ],
      async (resolver) => {
        assert.deepEqual(await resolver.query('a.test', 'A'), {
          status: 'found',
          records: ['192.0.2.1'],
          aliases: ['b.test', 'c.test'],
        });
      },
    ));

  it('a dangling alias is kept', () =>
    withServers(
      [(q) => [reply(q, { answers: [cname(q.name, 'gone.test')], authorities: [soa('test')], rcode: 3 })]],
      async (resolver) => {
        assert.deepEqual(await resolver.query('a.test', 'A'), {
          status: 'nxdomain',
          records: [],
          aliases: ['gone.test'],
        });
      },
    ));

  it('equal questions in flight are one, and the answer is kept for its TTL only', () =>
    withServers(
      [(q) => [reply(q, { answers: [a(q.name, '192.0.2.1', q.name === 'zero.test' ? 0 : 300)] })]],
      async (resolver, [server]) => {
        await Promise.all([
          resolver.query('a.test', 'A'),
          resolver.query('A.TEST', 'A'),
          resolver.query('zero.test', 'A'),
        ]);
        await resolver.query('a.test', 'A');
        await resolver.query('zero.test', 'A');
        assert.deepEqual([...(server?.asked ?? [])].sort(), ['A a.test', 'A zero.test', 'A zero.test']);
      },
    ));

  it('absence is kept for the SOA minimum, failure is not kept', () =>
    withServers(
      [(q) => [q.name === 'no.test' ? reply(q, { rcode: 3, authorities: [soa('test')] }) : reply(q, { rcode: 2 })]],
      async (resolver, [server]) => {
        for (const name of ['no.test', 'no.test', 'bad.test', 'bad.test']) await resolver.query(name, 'A');
        assert.equal(server?.asked.filter((each) => each === 'A no.test').length, 1);
        assert.ok((server?.asked.filter((each) => each === 'A bad.test').length ?? 0) >= 2);
      },
    ));

  it('one that leaves does not spoil the answer of one that stays', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await withServers(
      [
        async (q) => {
          await promise;
          return [reply(q, { answers: [a(q.name, '192.0.2.1')] })];
        },
      ],
      async (resolver) => {
        const leaving = new AbortController();
        const left = resolver.query('a.test', 'A', { signal: leaving.signal });
        const stays = resolver.query('a.test', 'A', { signal: new AbortController().signal });
        leaving.abort(new Error('gone'));
        await assert.rejects(left, /gone/);
        resolve();
        assert.equal((await stays).status, 'found');
      },
      { tryTimeoutMs: 2_000, totalTimeoutMs: 2_000 },
    );
  });

  it('no more questions are in flight than allowed, and none is lost in the line', async () => {
    let open = 0;
    let most = 0;
    await withServers(
      [
        async (q) => {
          open += 1;
          most = Math.max(most, open);
          await new Promise((done) => setImmediate(done));
          open -= 1;
          return [reply(q, { answers: [a(q.name, '192.0.2.1')] })];
        },
      ],
      async (resolver) => {
        const all = await Promise.all(Array.from({ length: 200 }, (_, i) => resolver.query(`h${i}.test`, 'A')));
        assert.ok(all.every(({ status }) => status === 'found'));
        assert.ok(most <= 8, `${most} at once`);
      },
      { maxInFlight: 8, tryTimeoutMs: 3_000, totalTimeoutMs: 6_000 },
    );
  });

  for (const name of [
    '',
    '.',
    'a..test',
    `${'x'.repeat(64)}.test`,
    `${'x.'.repeat(127)}test`,
    'a b.test',
    'ä.test',
    'a\\.test',
  ]) {
    it(`the name '${name.slice(0, 20)}' is not sent`, () =>
      withServers([silent], async (resolver, [server]) => {
        assert.notEqual((await resolver.query(name, 'A')).status, 'timeout');
        assert.deepEqual(server?.asked, []);
      }));
  }
});
