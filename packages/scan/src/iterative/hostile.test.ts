// Iterative mode against name servers that lie, lead astray, or would have others flooded.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { it } from 'node:test';
import { until } from '../../../../tests/support/until.ts';
import { cname, type DnsScript, reply } from '../test/dns-server.ts';
import { address, authority, ns, ROOT, told, withHierarchy } from '../test/hierarchy.ts';

const TEST = '127.66.1.1';
const EVIL = '127.66.2.1';
const BANK = '127.66.3.1';
const TRAP = '127.66.9.9';
const root = authority({ '': [ns('test', 'a.nic.test'), address('a.nic.test', TEST)] });
const top = authority({
  test: [
    ns('evil.test', 'ns.evil.test'),
    address('ns.evil.test', EVIL),
    ns('bank.test', 'ns.bank.test'),
    address('ns.bank.test', BANK),
  ],
});
const bank = authority({
  'bank.test': [
    address('www.bank.test', '198.51.100.1'),
    address('ns.bank.test', BANK),
    address('ns2.bank.test', BANK),
  ],
});
const trap: DnsScript = (q) => [told(q, { answers: [address(q.name, '6.6.6.6')] })];
const honest = { [ROOT]: root, [TEST]: top, [BANK]: bank, [TRAP]: trap };
const evil = (script: DnsScript) => ({ ...honest, [EVIL]: script });

it('glue for a name that is not the sender’s to tell is not used', () =>
  withHierarchy(
    evil((q) => [
      reply(q, {
        authorities: [ns('sub.evil.test', 'ns.bank.test')],
        additionals: [address('ns.bank.test', TRAP)],
      }),
    ]),
    async ({ resolver, asked }) => {
      assert.equal((await resolver.query('www.sub.evil.test', 'A')).status, 'refused');
      assert.deepEqual((await resolver.query('www.bank.test', 'A')).records, ['198.51.100.1']);
      assert.deepEqual(asked(TRAP), []);
    },
  ));

it('a referral to a zone that is not the sender’s to delegate is not followed', () =>
  withHierarchy(
    evil((q) => [
      reply(q, {
        authorities: [ns('bank.test', 'ns.evil.test'), ns('test', 'ns.evil.test')],
        additionals: [address('ns.evil.test', TRAP)],
      }),
    ]),
    async ({ resolver, asked }) => {
      assert.equal((await resolver.query('www.evil.test', 'A')).status, 'servfail');
      assert.deepEqual((await resolver.query('www.bank.test', 'A')).records, ['198.51.100.1']);
      assert.deepEqual(asked(TRAP), []);
    },
  ));

it('records of others’ names in an answer are looked up where they stand', () =>
  withHierarchy(
    evil((q) => [
      told(q, { answers: [cname(q.name.toLowerCase(), 'www.bank.test'), address('www.bank.test', '6.6.6.6')] }),
    ]),
    async ({ resolver }) => {
      const { records, aliases } = await resolver.query('www.evil.test', 'A');
      assert.deepEqual([records, aliases], [['198.51.100.1'], ['www.bank.test']]);
    },
  ));

it('a denial behind an alias that leads away says nothing about the other zone', () =>
  withHierarchy(
    evil((q) => [told(q, { rcode: 3, answers: [cname(q.name.toLowerCase(), 'www.bank.test')] })]),
    async ({ resolver }) => {
      assert.equal((await resolver.query('www.evil.test', 'A')).status, 'found');
    },
  ));

it('a delegation to very many names makes us look up three of them (NXNSAttack)', () =>
  withHierarchy(
    evil((q) => [
      reply(q, { authorities: Array.from({ length: 60 }, (_, i) => ns('sub.evil.test', `n${i}.bank.test`)) }),
    ]),
    async ({ resolver, asked }) => {
      const names = Array.from({ length: 30 }, (_, i) => `w${i}.sub.evil.test`);
      const lookups = await Promise.all(names.map((name) => resolver.query(name, 'A')));
      assert.ok(lookups.every(({ status }) => status === 'servfail'));
      assert.equal(asked(BANK).length, 3, asked(BANK).join());
    },
  ));

it('zones that are each served by hosts of the other end, and soon', () => {
  const ring = authority({
    test: [
      ns('one.test', 'ns1.two.test'),
      ns('one.test', 'ns2.two.test'),
      ns('two.test', 'ns1.one.test'),
      ns('two.test', 'ns2.one.test'),
    ],
  });
  return withHierarchy({ ...honest, [TEST]: ring }, async ({ resolver, asked }) => {
    const lookups = await Promise.all(['www.one.test', 'www.two.test'].map((name) => resolver.query(name, 'A')));
    assert.deepEqual(
      lookups.map(({ status }) => status),
      ['servfail', 'servfail'],
    );
    assert.ok(asked(TEST).length <= 24, `${asked(TEST).length} packets`);
  });
});

it('a chain of delegations ends when its packets are used up', () => {
  // Each referral leads one label further down, for as long as there are labels.
  const bottomless: DnsScript = (q) => {
    const labels = q.name.toLowerCase().split('.');
    const child = labels.slice(-Math.min(labels.length, 3 + bottomlessDepth++)).join('.');
    return [reply(q, { authorities: [ns(child, `ns.${child}`)], additionals: [address(`ns.${child}`, EVIL)] })];
  };
  let bottomlessDepth = 0;
  return withHierarchy(evil(bottomless), async ({ resolver, asked }) => {
    const name = `${'a.'.repeat(100)}evil.test`;
    const { status } = await resolver.query(name, 'A');
    assert.ok(status === 'timeout' || status === 'servfail', status);
    assert.ok(asked(EVIL).length > 30 && asked(EVIL).length <= 40, `${asked(EVIL).length} packets`);
  });
});

it('aliases that lead round in a ring across zones are malformed', () => {
  const ring = authority({ 'bank.test': [cname('www.bank.test', 'www.evil.test')] });
  const back = authority({ 'evil.test': [cname('www.evil.test', 'www.bank.test')] });
  return withHierarchy({ ...evil(back), [BANK]: ring }, async ({ resolver }) => {
    assert.equal((await resolver.query('www.evil.test', 'A')).status, 'malformed');
  });
});

it('an answer from another address than the one that was asked is none', async () => {
  const forger = createSocket('udp4');
  forger.bind(0, TRAP);
  await once(forger, 'listening');
  const outrun: DnsScript = async (q) => {
    const forged = told(q, { answers: [address(q.name, '6.6.6.6')] });
    await new Promise((resolve) => forger.send(forged, q.from?.port ?? 0, q.from?.address, resolve));
    return (await bank(q)) as Buffer[];
  };
  await withHierarchy({ ...honest, [BANK]: outrun }, async ({ resolver }) => {
    assert.deepEqual((await resolver.query('www.bank.test', 'A')).records, ['198.51.100.1']);
  });
  forger.close();
});

it('an answer in another letter case is not believed until TCP confirms it', () => {
  // The forger knows port and id, and guesses the name: the true answer comes after it.
  const forged: DnsScript = (q) => {
    if (q.transport === 'tcp') return bank(q);
    const isSame = q.name === q.name.toLowerCase();
    const guessed = { ...q, name: isSame ? q.name.toUpperCase() : q.name.toLowerCase() };
    return [told(guessed, { answers: [address(guessed.name, '6.6.6.6')] })];
  };
  return withHierarchy({ ...honest, [BANK]: forged }, async ({ resolver, asked }) => {
    assert.deepEqual((await resolver.query('www.bank.test', 'A')).records, ['198.51.100.1']);
    assert.ok(asked(BANK).includes('A www.bank.test/tcp'));
  });
});

it('a server that cannot keep the letter case is asked in lower case after a while', () => {
  const lowering: DnsScript = (q) => bank({ ...q, name: q.name.toLowerCase() });
  return withHierarchy({ ...honest, [BANK]: lowering }, async ({ resolver, asked }) => {
    for (let i = 0; i < 10; i++) assert.equal((await resolver.query(`n${i}.bank.test`, 'A')).status, 'nxdomain');
    assert.equal(asked(BANK).filter((question) => question.endsWith('/tcp')).length, 3);
  });
});

it('name servers at private addresses are not asked unless the operator says so', () => {
  const inside = authority({ test: [ns('evil.test', 'ns.evil.test'), address('ns.evil.test', TRAP)] });
  return withHierarchy(
    { ...honest, [TEST]: inside },
    async ({ resolver, asked }) => {
      const lookup = await resolver.query('www.evil.test', 'A');
      assert.equal(lookup.status, 'servfail');
      assert.match(lookup.detail ?? '', /no name server that can be asked/);
      assert.deepEqual(asked(TRAP), []);
    },
    { allowAddresses: ['127.66.1.0/24'] },
  );
});

it('what is under way ends as skipped when the resolver is disposed', () =>
  withHierarchy(
    evil(() => []),
    async ({ resolver, asked }) => {
      const asking = ['a', 'b', 'c'].map((label) => resolver.query(`${label}.evil.test`, 'A'));
      await until(() => asked(EVIL).length > 0);
      await resolver[Symbol.asyncDispose]();
      for (const { status } of await Promise.all(asking)) assert.equal(status, 'skipped');
    },
  ));
