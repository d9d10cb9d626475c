// Ports of questions to name servers, as one of those servers sees them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../../../../tests/support/until.ts';
import { encodeQuery } from '../message.ts';
import { a, type DnsQuestion, type DnsScript, startDnsServer } from '../test/dns-server.ts';
import { authoritative, authority, delegated, ROOT, startHierarchy } from '../test/hierarchy.ts';
import { TimerWheel } from '../timer-wheel.ts';
import { StopSwitch, UdpChannel } from '../udp-channel.ts';

const TEST = '127.66.1.1';
const QUESTIONS = 4_096;
const AT_ONCE = 32;
const WINDOW = 256;

it('ports that a name server has received from are soon unused, and each carries few questions', async () => {
  const ports: number[] = [];
  const root = authority({ '': delegated('test', 'a.nic.test', TEST) });
  const test: DnsScript = (question) => {
    if (question.transport === 'udp') ports.push(question.from?.port ?? 0);
    return [authoritative(question, { answers: [a(question.name, '192.0.2.1')] })];
  };
  await using hierarchy = await startHierarchy({ [ROOT]: root, [TEST]: test });
  let next = 0;
  const asker = async () => {
    while (next < QUESTIONS) assert.equal((await hierarchy.query(`n${next++}.test`)).status, 'found');
  };
  await Promise.all(Array.from({ length: AT_ONCE }, asker));
  assert.ok(ports.length >= QUESTIONS);
  // 64 each, and those that were sent while the next socket was being opened. The system may draw a port a second time.
  const counts = Map.groupBy(ports, (port) => port).values();
  const highest = Math.max(...counts.map((each) => each.length));
  assert.ok(highest <= 2 * (64 + AT_ONCE), `a port carried ${highest}`);
  const early = new Set(ports.slice(0, WINDOW));
  const late = new Set(ports.slice(-WINDOW));
  assert.ok(early.intersection(late).size <= 2, `ports of the first ${WINDOW} questions are in use at the end`);
  assert.ok(early.size >= 8 && late.size >= 8, 'questions leave from many ports at any time');
});

it('a socket that retires waits for the answers that are on their way', async () => {
  const waiting: (() => void)[] = [];
  const answerTo = (q: DnsQuestion) => [authoritative(q, { answers: [a('a', '192.0.2.1')] })];
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
