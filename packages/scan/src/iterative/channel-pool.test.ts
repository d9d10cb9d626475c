// Ports of questions to name servers, as one of those servers sees them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../../../../tests/support/until.ts';
import { encodeQuery } from '../message.ts';
import { type DnsScript, startDnsServer } from '../test/dns-server.ts';
import { address, authority, ns, ROOT, told, withHierarchy } from '../test/hierarchy.ts';
import { TimerWheel } from '../timer-wheel.ts';
import { StopSwitch, UdpChannel } from '../udp-channel.ts';

const TEST = '127.66.1.1';
const QUESTIONS = 4_096;
const AT_ONCE = 32;
const WINDOW = 256;

it('ports that a name server has seen are soon in use no more, and each carries few questions', async () => {
  const ports: number[] = [];
  const root = authority({ '': [ns('test', 'a.nic.test'), address('a.nic.test', TEST)] });
  const test: DnsScript = (question) => {
    if (question.transport === 'udp') ports.push(question.from?.port ?? 0);
    return [told(question, { answers: [address(question.name, '192.0.2.1')] })];
  };
  await withHierarchy({ [ROOT]: root, [TEST]: test }, async ({ resolver }) => {
    let next = 0;
    const asker = async () => {
      while (next < QUESTIONS) assert.equal((await resolver.query(`n${next++}.test`, 'A')).status, 'found');
    };
    await Promise.all(Array.from({ length: AT_ONCE }, asker));
  });
  assert.ok(ports.length >= QUESTIONS);
  const counts = new Map<number, number>();
  for (const port of ports) counts.set(port, (counts.get(port) ?? 0) + 1);
  // 64 each, and those that were sent while the next socket was being opened. The system may draw a port a second time.
  assert.ok(Math.max(...counts.values()) <= 2 * (64 + AT_ONCE), `a port carried ${Math.max(...counts.values())}`);
  const early = new Set(ports.slice(0, WINDOW));
  const late = new Set(ports.slice(-WINDOW));
  const both = [...early].filter((port) => late.has(port));
  assert.ok(both.length <= 2, `${both.length} ports of the first ${WINDOW} questions are in use at the end`);
  assert.ok(early.size >= 8 && late.size >= 8, 'questions leave from many ports at any time');
});

it('a socket that retires waits for the answers that are on their way', async () => {
  const waiting: (() => void)[] = [];
  const script: DnsScript = (question) =>
    new Promise((resolve) => waiting.push(() => resolve([told(question, { answers: [address('a', '192.0.2.1')] })])));
  await using server = await startDnsServer(script);
  using wheel = new TimerWheel();
  const channel = await UdpChannel.openFor(4, wheel);
  const answers = [1, 2].map(() => channel.ask(encodeQuery('a', 'A'), 60_000, new StopSwitch(), server));
  const retired = channel.retire();
  let isClosed = false;
  void retired.then(() => {
    isClosed = true;
  });
  await until(() => waiting.length === 2);
  assert.equal(isClosed, false);
  for (const answer of waiting) answer();
  assert.deepEqual(
    (await Promise.all(answers)).map(({ kind }) => kind),
    ['answer', 'answer'],
  );
  await retired;
  assert.equal(channel.waiting, 0);
});
