// What name servers see of the iterative mode: how the roots are asked for their names, and from which ports questions leave.
import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { it } from 'node:test';
import { until } from '../../../../tests/support/until.ts';
import { createAddressGuard } from '../address-guard.ts';
import { encodeQuery } from '../message.ts';
import { a, aaaa, type DnsScript, ns, type ReplyParts, reply, startDnsServer } from '../test/dns-server.ts';
import { authoritative, authority, delegated, ROOT, startHierarchy } from '../test/hierarchy.ts';
import { TimerWheel } from '../timer-wheel.ts';
import { StopSwitch, UdpChannel } from '../udp-channel.ts';
import { IterativeSource } from './iterative-source.ts';
import { readRoots } from './read-reply.ts';
import { ROOT_ADDRESSES } from './root-hints.ts';

const NEW = '127.66.0.2';
/** Not among the addresses that may be asked. */
const FORBIDDEN = '127.99.0.1';
const PRIMING = 'NS ./tcp';

const TEST = '127.66.1.1';
const delegations = authority({ '': delegated('test', 'a.nic.test', TEST) });
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

it('thirteen root servers are known, at addresses of both families that may be asked', () => {
  const guard = createAddressGuard();
  for (const family of [4, 6]) {
    const addresses = new Set(ROOT_ADDRESSES.filter((address) => isIP(address) === family));
    assert.equal(addresses.size, 13);
    for (const address of addresses) assert.equal(guard(address).isAllowed, true, address);
  }
});

it('ports that a name server has received from are soon unused, and each carries few questions', async () => {
  const ports: number[] = [];
  const test: DnsScript = (question) => {
    if (question.transport === 'udp') ports.push(question.from?.port ?? 0);
    return [authoritative(question, { answers: [a(question.name, '192.0.2.1')] })];
  };
  await using hierarchy = await startHierarchy({ [ROOT]: delegations, [TEST]: test });
  let next = 0;
  const asker = async () => {
    while (next < 4_096) assert.equal((await hierarchy.query(`n${next++}.test`)).status, 'found');
  };
  await Promise.all(Array.from({ length: 32 }, asker));
  assert.ok(ports.length >= 4_096);
  // 64 each, and those that were sent while the next socket was being opened. The system may draw a port a second time.
  const counts = Map.groupBy(ports, (port) => port).values();
  const highest = Math.max(...counts.map((each) => each.length));
  assert.ok(highest <= 2 * (64 + 32), `a port carried ${highest}`);
  const early = new Set(ports.slice(0, 256));
  const late = new Set(ports.slice(-256));
  assert.ok(early.intersection(late).size <= 2, `ports of the first 256 questions are in use at the end`);
  assert.ok(early.size >= 8 && late.size >= 8, 'questions leave from many ports at any time');
});

it('a socket that retires waits for the answers that are on their way', async () => {
  const waiting: (() => void)[] = [];
  const answerTo = (q: Parameters<DnsScript>[0]) => [authoritative(q, { answers: [a('a', '192.0.2.1')] })];
  const script: DnsScript = (q) => new Promise((resolve) => waiting.push(() => resolve(answerTo(q))));
  await using server = await startDnsServer(script);
  using wheel = new TimerWheel();
  const channel = await UdpChannel.openFor(4, wheel);
  const answers = [1, 2].map(() => channel.ask(encodeQuery('a', 'A'), 60_000, new StopSwitch(), server));
  const closed: unknown[] = [];
  const retired = channel.retire().then(() => closed.push('closed'));
  await until(() => waiting.length === 2);
  assert.deepEqual(closed, []);
  for (const answer of waiting) answer();
  for (const { kind } of await Promise.all(answers)) assert.equal(kind, 'answer');
  await retired;
  assert.equal(channel.waiting, 0);
});
