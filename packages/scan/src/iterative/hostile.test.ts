// Iterative mode against name servers that lie, refer to the wrong servers, or try to make it flood others.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { it } from 'node:test';
import { until } from '../../../../tests/support/until.ts';
import { a, cname, type DnsScript, ns, reply } from '../test/dns-server.ts';
import { authoritative, authority, delegated, ROOT, startHierarchy } from '../test/hierarchy.ts';

const TEST = '127.66.1.1';
const EVIL = '127.66.2.1';
const BANK = '127.66.3.1';
const TRAP = '127.66.9.9';
const root = authority({ '': delegated('test', 'a.nic.test', TEST) });
const top = authority({
  test: [...delegated('evil.test', 'ns.evil.test', EVIL), ...delegated('bank.test', 'ns.bank.test', BANK)],
});
const bank = authority({
  'bank.test': [a('www.bank.test', '198.51.100.1'), a('ns.bank.test', BANK), a('ns2.bank.test', BANK)],
});
const trap: DnsScript = (q) => [authoritative(q, { answers: [a(q.name, '6.6.6.6')] })];
const honest = { [ROOT]: root, [TEST]: top, [BANK]: bank, [TRAP]: trap };
const evil = (script: DnsScript) => ({ ...honest, [EVIL]: script });

const notItsOwn = [ns('bank.test', 'ns.evil.test'), ns('test', 'ns.evil.test')];
for (const [what, asked, status, authorities, glue] of [
  ['glue for a name outside the sender’s zone', 'www.sub', 'refused', [ns('sub.evil.test', 'ns.bank.test')], 'ns.bank'],
  ['a referral to a zone that the sender may not delegate', 'www', 'servfail', notItsOwn, 'ns.evil'],
] as const)
  it(`${what} is not used`, async () => {
    const additionals = [a(`${glue}.test`, TRAP)];
    await using hierarchy = await startHierarchy(evil((q) => [reply(q, { authorities, additionals })]));
    assert.equal((await hierarchy.query(`${asked}.evil.test`)).status, status);
    assert.deepEqual((await hierarchy.query('www.bank.test')).records, ['198.51.100.1']);
    assert.deepEqual(hierarchy.asked(TRAP), []);
  });

it('records of other zones in an answer, and a denial behind an alias to one, are looked up in that zone', async () => {
  const alias: DnsScript = (q) => {
    const own = cname(q.name.toLowerCase(), 'www.bank.test');
    const isDenied = q.name.toLowerCase().startsWith('denied');
    const more = isDenied ? [] : [a('www.bank.test', '6.6.6.6')];
    return [authoritative(q, { rcode: isDenied ? 3 : 0, answers: [own, ...more] })];
  };
  await using hierarchy = await startHierarchy(evil(alias));
  for (const label of ['www', 'denied']) {
    const { status, records, aliases } = await hierarchy.query(`${label}.evil.test`);
    assert.deepEqual([status, records, aliases], ['found', ['198.51.100.1'], ['www.bank.test']]);
  }
});

it('a delegation to very many names makes us look up three of them (NXNSAttack)', async () => {
  const authorities = Array.from({ length: 60 }, (_, i) => ns('sub.evil.test', `n${i}.bank.test`));
  await using hierarchy = await startHierarchy(evil((q) => [reply(q, { authorities })]));
  const statuses = await hierarchy.statuses(Array.from({ length: 30 }, (_, i) => `w${i}.sub.evil.test`));
  assert.deepEqual([...new Set(statuses)], ['servfail']);
  assert.equal(hierarchy.asked(BANK).length, 3, hierarchy.asked(BANK).join());
});

it('zones that are each served by hosts of the other end, and soon', async () => {
  const test = ['one', 'two'].flatMap((zone, i, zones) =>
    ['ns1', 'ns2'].map((host) => ns(`${zone}.test`, `${host}.${zones[1 - i]}.test`)),
  );
  await using hierarchy = await startHierarchy({ ...honest, [TEST]: authority({ test }) });
  assert.deepEqual(await hierarchy.statuses(['www.one.test', 'www.two.test']), ['servfail', 'servfail']);
  assert.ok(hierarchy.asked(TEST).length <= 24, `${hierarchy.asked(TEST).length} packets`);
});

it('a chain of delegations ends when its packets are used up', async () => {
  let depth = 3;
  // Each referral leads one label further down, for as long as there are labels.
  const bottomless: DnsScript = (q) => {
    const child = q.name.toLowerCase().split('.').slice(-depth++).join('.');
    return [reply(q, { authorities: [ns(child, `ns.${child}`)], additionals: [a(`ns.${child}`, EVIL)] })];
  };
  await using hierarchy = await startHierarchy(evil(bottomless));
  const { status } = await hierarchy.query(`${'a.'.repeat(100)}evil.test`);
  assert.match(status, /^(?:timeout|servfail)$/);
  const packets = hierarchy.asked(EVIL).length;
  assert.ok(packets > 30 && packets <= 40, `${packets} packets`);
});

it('aliases that lead round in a ring across zones are malformed', async () => {
  const ring = authority({ 'bank.test': [cname('www.bank.test', 'www.evil.test')] });
  const back = authority({ 'evil.test': [cname('www.evil.test', 'www.bank.test')] });
  await using hierarchy = await startHierarchy({ ...evil(back), [BANK]: ring });
  assert.equal((await hierarchy.query('www.evil.test')).status, 'malformed');
});

it('an answer from another address than the one that was asked is ignored', async () => {
  const forger = createSocket('udp4');
  forger.bind(0, TRAP);
  await once(forger, 'listening');
  const outrun: DnsScript = async (q) => {
    const forged = authoritative(q, { answers: [a(q.name, '6.6.6.6')] });
    await new Promise((resolve) => forger.send(forged, q.from?.port ?? 0, q.from?.address, resolve));
    return (await bank(q)) as Buffer[];
  };
  await using hierarchy = await startHierarchy({ ...honest, [BANK]: outrun });
  assert.deepEqual((await hierarchy.query('www.bank.test')).records, ['198.51.100.1']);
  forger.close();
});

it('an answer in another letter case is not used until TCP confirms it', async () => {
  // The forger knows port and id, and guesses the name: the true answer comes after it.
  const forged: DnsScript = (q) => {
    if (q.transport === 'tcp') return bank(q);
    const lower = q.name.toLowerCase();
    return trap({ ...q, name: q.name === lower ? q.name.toUpperCase() : lower });
  };
  await using hierarchy = await startHierarchy({ ...honest, [BANK]: forged });
  assert.deepEqual((await hierarchy.query('www.bank.test')).records, ['198.51.100.1']);
  assert.ok(hierarchy.asked(BANK).includes('A www.bank.test/tcp'));
});

it('a server that cannot keep the letter case is asked in lower case after a while', async () => {
  const lowering: DnsScript = (q) => bank({ ...q, name: q.name.toLowerCase() });
  await using hierarchy = await startHierarchy({ ...honest, [BANK]: lowering });
  for (let i = 0; i < 10; i++) assert.equal((await hierarchy.query(`n${i}.bank.test`)).status, 'nxdomain');
  assert.equal(hierarchy.asked(BANK).filter((question) => question.endsWith('/tcp')).length, 3);
});

it('name servers at private addresses are not asked unless the operator allows them', async () => {
  const inside = authority({ test: delegated('evil.test', 'ns.evil.test', TRAP) });
  await using hierarchy = await startHierarchy({ ...honest, [TEST]: inside }, { allowAddresses: ['127.66.1.0/24'] });
  const { status, detail } = await hierarchy.query('www.evil.test');
  assert.deepEqual([status, hierarchy.asked(TRAP)], ['servfail', []]);
  assert.match(detail ?? '', /no name server that can be asked/);
});

it('questions in flight end as skipped when the resolver is disposed', async () => {
  await using hierarchy = await startHierarchy(evil(() => []));
  const asking = hierarchy.statuses(['a', 'b', 'c'].map((label) => `${label}.evil.test`));
  await until(() => hierarchy.asked(EVIL).length > 0);
  await hierarchy.resolver[Symbol.asyncDispose]();
  assert.deepEqual(await asking, ['skipped', 'skipped', 'skipped']);
});
