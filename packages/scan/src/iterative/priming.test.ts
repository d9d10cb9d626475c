// The root servers are asked for their names: their answer is used, and any improper answer leaves the hints as they are.
import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { it } from 'node:test';
import { until } from '../../../../tests/support/until.ts';
import { createAddressGuard } from '../address-guard.ts';
import { encodeQuery } from '../message.ts';
import { a, aaaa, type DnsScript, ns, type ReplyParts, reply } from '../test/dns-server.ts';
import { authoritative, authority, delegated, ROOT, startHierarchy } from '../test/hierarchy.ts';
import { StopSwitch } from '../udp-channel.ts';
import { IterativeSource } from './iterative-source.ts';
import { readRoots } from './read-reply.ts';
import { ROOT_ADDRESSES } from './root-hints.ts';

const NEW = '127.66.0.2';
/** Not among the addresses that may be asked. */
const FORBIDDEN = '127.99.0.1';
const PRIMING = 'NS ./tcp';

const delegations = authority({ '': delegated('test', 'a.nic.test', '127.66.1.1') });
/** A root server with an answer of its own to the question about the root. */
const rootOf =
  (script: DnsScript): DnsScript =>
  (question) =>
    question.type === 'NS' && question.name === '.' ? script(question) : delegations(question);
const answers = [ns('.', 'a.roots.test')];
const rootAt = (address: string): ReplyParts => ({ answers, additionals: [a('a.roots.test', address)] });
const announces = (parts: ReplyParts): DnsScript => rootOf((q) => [authoritative(q, parts)]);
const renewed = { [ROOT]: announces(rootAt(NEW)), [NEW]: announces(rootAt(NEW)) };

async function startPrimed(scripts: Readonly<Record<string, DnsScript>>) {
  const hierarchy = await startHierarchy(scripts);
  const source = new IterativeSource({
    roots: [{ address: ROOT, port: hierarchy.port }],
    isPrimed: true,
    tryTimeoutMs: 10_000,
    totalTimeoutMs: 30_000,
    maxInFlight: 100,
    allowAddresses: ['127.66.0.0/16'],
  });
  let next = 0;
  return {
    asked: hierarchy.asked,
    /** Asks for a top-level domain that was never asked for: only a root server has the answer. */
    async askRoot() {
      const question = `nowhere-${next++}`;
      const { lookup } = await source.ask({ question, type: 'A', isUnchecked: false }, new StopSwitch());
      assert.equal(lookup.status, 'nxdomain');
    },
    async [Symbol.asyncDispose]() {
      await source[Symbol.asyncDispose]();
      await hierarchy[Symbol.asyncDispose]();
    },
  };
}

it('the answer of the roots replaces the hints, over TCP and once', async () => {
  await using primed = await startPrimed(renewed);
  const { asked, askRoot } = primed;
  await until(async () => {
    await askRoot();
    return asked(NEW).length > 0;
  });
  const before = asked(ROOT).length;
  for (let i = 0; i < 10; i++) await askRoot();
  assert.equal(asked(ROOT).length, before);
  const priming = [...asked(ROOT), ...asked(NEW)].filter((question) => question.startsWith('NS'));
  assert.deepEqual(priming, [PRIMING]);
});

for (const [what, script] of Object.entries<DnsScript>({
  'that may not be asked': announces(rootAt(FORBIDDEN)),
  'without addresses': announces({ answers }),
  'of another zone': announces({ ...rootAt(NEW), answers: [ns('test', 'a.roots.test')] }),
  'from a server that does not answer for the root': rootOf((q) => [reply(q, rootAt(NEW))]),
  'in a refusal': announces({ ...rootAt(NEW), rcode: 5 }),
  'in a message cut off': rootOf((q) => [authoritative(q, rootAt(NEW)).subarray(0, -3)]),
}))
  it(`roots ${what} leave the hints in use`, async () => {
    await using primed = await startPrimed({ ...renewed, [ROOT]: script });
    const { asked, askRoot } = primed;
    await until(async () => {
      await askRoot();
      return asked(ROOT).includes(PRIMING);
    });
    for (let i = 0; i < 20; i++) await askRoot();
    assert.deepEqual(asked(NEW), []);
    assert.ok(asked(ROOT).length > 20);
  });

it('roots are read with addresses of both families, and the TTL of the set', () => {
  const query = encodeQuery('', 'NS', { isRecursive: false });
  const question = { id: 0, name: '.', type: 'NS', transport: 'tcp', bytes: query } as const;
  const answers = ['a', 'b'].map((label) => ns('.', `${label}.roots.test`, 518_400));
  const ofA = [a('a.roots.test', '192.0.2.1'), aaaa('a.roots.test', '2001:db8::1')];
  const bytes = authoritative(question, { answers, additionals: [...ofA, a('b.roots.test', '192.0.2.2')] });
  assert.deepEqual(readRoots(bytes, query), {
    zone: '',
    hosts: [
      { name: 'a.roots.test', addresses: ['192.0.2.1', '2001:db8::1'] },
      { name: 'b.roots.test', addresses: ['192.0.2.2'] },
    ],
    ttlSeconds: 518_400,
  });
});

it('roots that the operator named are not asked for their names', async () => {
  await using hierarchy = await startHierarchy(renewed);
  for (let i = 0; i < 20; i++) assert.equal((await hierarchy.query(`nowhere-${i}`)).status, 'nxdomain');
  const asked = hierarchy.asked(ROOT);
  assert.ok(asked.length >= 20 && !asked.includes(PRIMING));
  assert.deepEqual(hierarchy.asked(NEW), []);
});

it('thirteen root servers are known, at addresses of both families that may be asked', () => {
  const guard = createAddressGuard();
  for (const family of [4, 6]) {
    const addresses = new Set(ROOT_ADDRESSES.filter((address) => isIP(address) === family));
    assert.equal(addresses.size, 13);
    for (const address of addresses) assert.equal(guard(address).isAllowed, true, address);
  }
});
