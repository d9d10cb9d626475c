// The resolver against servers that answer well, badly, late, or not at all, over real sockets.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answer } from 'dns-packet';
import { Resolver } from './resolver.ts';
import { a, cname, reply, soa, startDnsServer, txt, zone } from './test/dns-server.ts';
import { rcode, silent, withServers } from './test/scripted-resolver.ts';

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
  it('of each type come out as their values', () =>
    withServers([zone(records)], async (resolver) => {
      for (const [name, type, values] of expected)
        assert.deepEqual(await resolver.query(name, type), { status: 'found', records: values, aliases: [] });
    }));

  it('absence is empty or nxdomain, as the server says', () =>
    withServers([zone(records)], async (resolver) => {
      assert.equal((await resolver.query('null.test', 'A')).status, 'empty');
      assert.equal((await resolver.query('gone.test', 'A')).status, 'nxdomain');
    }));
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
    await using resolver = new Resolver({ upstreams: [{ address: '127.0.0.1', port }, good], tryTimeoutMs: 60_000 });
    for (const name of ['a.test', 'b.test']) assert.equal((await resolver.query(name, 'A')).status, 'found');
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
      { maxInFlight: 8 },
    );
  });

  it('a name that DNS cannot carry is not sent', () =>
    withServers([silent], async (resolver, [server]) => {
      const long = [`${'x'.repeat(64)}.test`, `${'x.'.repeat(127)}test`];
      for (const name of ['', '.', 'a..test', 'a b.test', 'ä.test', 'a\\.test', ...long])
        assert.equal((await resolver.query(name, 'A')).status, 'skipped', name);
      assert.deepEqual(server?.asked, []);
    }));
});
