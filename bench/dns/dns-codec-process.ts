// What a DNS message costs in time and garbage, by our codec and by dns-packet, in a process whose young generation holds all of the
// garbage: no collection falls into a measurement, so that what the heap grew by is what was allocated.
import assert from 'node:assert/strict';
import dnsPacket from 'dns-packet';
import { encodeQuery } from '../../packages/scan/src/dns/message/message.ts';
import { readExchange } from '../../packages/scan/src/dns/upstream/tries.ts';
import { collectGarbage, median, reportReady } from '../measure.ts';

export interface CodecCost {
  readonly nanos: number;
  readonly bytes: number;
}

export interface CodecCosts {
  readonly what: string;
  readonly ours: CodecCost;
  readonly theirs: CodecCost;
}

const NAME = 'www.company-12345.example';
/** The question's own name, as names in answers repeat it. */
const OWNER = [0xc0, 12];
const PARENT = [0xc0, 16];
const TTL = [0, 0, 1, 44];
const ROUNDS = 9;
const MESSAGES = 20_000;

const label = (text: string) => [text.length, ...Buffer.from(text)];
const record = (owner: readonly number[], type: number, data: readonly number[]) => [
  ...[...owner, 0, type, 0, 1, ...TTL],
  ...[data.length >> 8, data.length & 0xff, ...data],
];
const answers = {
  'A, one address': {
    type: 'A',
    records: [record(OWNER, 1, [192, 0, 2, 1])],
    expected: ['192.0.2.1'],
  },
  'NS, four servers': {
    type: 'NS',
    records: [1, 2, 3, 4].map((i) => record(OWNER, 2, [...label(`ns${i}`), ...PARENT])),
    expected: [1, 2, 3, 4].map((i) => `ns${i}.company-12345.example`),
  },
  'TXT, 120 characters': {
    type: 'TXT',
    records: [record(OWNER, 16, label('v=spf1 '.padEnd(120, 'x')))],
    expected: ['v=spf1 '.padEnd(120, 'x')],
  },
  'a name that does not exist': {
    type: 'TXT',
    records: [record(PARENT, 6, [...label('ns1'), ...PARENT, ...label('dns'), ...PARENT, ...Array(20).fill(1)])],
    expected: [],
  },
} as const;

function costOf(work: () => unknown): CodecCost {
  collectGarbage();
  const held = () => process.memoryUsage().heapUsed + process.memoryUsage().external;
  const before = held();
  const startedAt = performance.now();
  for (let i = 0; i < MESSAGES; i++) kept = work();
  const nanos = ((performance.now() - startedAt) * 1e6) / MESSAGES;
  return { nanos, bytes: (held() - before) / MESSAGES };
}

/** Interleaved rounds, the first is a warm-up; medians. */
function compare(what: string, work: { readonly ours: () => unknown; readonly theirs: () => unknown }): CodecCosts {
  const ours: CodecCost[] = [];
  const theirs: CodecCost[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    ours.push(costOf(work.ours));
    theirs.push(costOf(work.theirs));
  }
  return { what, ours: medianOf(ours.slice(1)), theirs: medianOf(theirs.slice(1)) };
}

function medianOf(costs: readonly CodecCost[]): CodecCost {
  return { nanos: median(costs.map(({ nanos }) => nanos)), bytes: median(costs.map(({ bytes }) => bytes)) };
}

/** What was made last, so that making it cannot be left out. */
let kept: unknown;
const query = encodeQuery(NAME, 'A');
const opt = { type: 'OPT', name: '.', udpPayloadSize: 1_232, flags: 0, options: [] } as unknown as dnsPacket.OptAnswer;
const costs = [
  compare('a question encoded', {
    ours: () => encodeQuery(NAME, 'A'),
    theirs: () =>
      dnsPacket.encode({
        ...{ type: 'query', id: 0, flags: dnsPacket.RECURSION_DESIRED | dnsPacket.AUTHENTIC_DATA },
        ...{ questions: [{ type: 'A', name: NAME }], additionals: [opt] },
      }),
  }),
];
assert.deepEqual(dnsPacket.decode(query).questions, [{ name: NAME, type: 'A', class: 'IN' }]);
for (const [what, { type, records, expected }] of Object.entries(answers)) {
  const asked = encodeQuery(NAME, type);
  const isDenied = expected.length === 0;
  const head = Buffer.from(asked.subarray(0, asked.length - 11));
  head.set([0x81, isDenied ? 0x83 : 0x80, 0, 1, 0, isDenied ? 0 : records.length, 0, isDenied ? 1 : 0, 0, 0], 2);
  const bytes = Buffer.concat([head, Buffer.from(records.flat())]);
  const ours = () => readExchange({ kind: 'answer', bytes }, asked, { name: NAME, type });
  assert.deepEqual(ours().lookup.records, expected);
  costs.push(compare(`an answer read: ${what}`, { ours, theirs: () => dnsPacket.decode(bytes) }));
}
assert.ok(kept);
reportReady({ costs }, async () => {});
