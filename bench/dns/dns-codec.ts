// What a DNS message costs, by our codec and by dns-packet: a question encoded, and an answer with one address decoded.
import assert from 'node:assert/strict';
import dnsPacket from 'dns-packet';
import { encodeQuery } from '../../packages/scan/src/dns/message/message.ts';
import { readExchange } from '../../packages/scan/src/dns/upstream/tries.ts';
import { type Figure, median, rateOf } from '../measure.ts';

const NAME = 'www.company-12345.example';
const ADDRESS = '192.0.2.1';
/** A of that address for the question's own name, TTL 300. */
export const ANSWER = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 1]);
/** The OPT record at the end of our questions. */
const OPT_BYTES = 11;
const ROUNDS = 9;
const RUN_MS = 100;

export function codecFigures(): Figure[] {
  const query = encodeQuery(NAME, 'A');
  assert.deepEqual(dnsPacket.decode(query).questions, [{ name: NAME, type: 'A', class: 'IN' }]);
  const opt = {
    type: 'OPT',
    name: '.',
    udpPayloadSize: 1_232,
    flags: 0,
    options: [],
  } as unknown as dnsPacket.OptAnswer;
  const flags = dnsPacket.RECURSION_DESIRED | dnsPacket.AUTHENTIC_DATA;
  const questions = [{ type: 'A', name: NAME } as const];
  const head = Buffer.from(query.subarray(0, query.length - OPT_BYTES));
  head.set([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0], 2);
  const bytes = Buffer.concat([head, ANSWER]);
  const read = () => readExchange({ kind: 'answer', bytes }, query, { name: NAME, type: 'A' });
  assert.deepEqual(read().lookup.records, [ADDRESS]);
  return [
    compare('a question encoded', {
      ours: () => encodeQuery(NAME, 'A'),
      theirs: () => dnsPacket.encode({ type: 'query', id: 0, flags, questions, additionals: [opt] }),
    }),
    compare('an answer with one address decoded', { ours: read, theirs: () => dnsPacket.decode(bytes) }),
  ];
}

/** Interleaved rounds; medians. */
function compare(
  what: string,
  { ours, theirs }: { readonly ours: () => unknown; readonly theirs: () => unknown },
): Figure {
  const nanosOf = (work: () => unknown) => {
    const hundred = () => {
      for (let i = 0; i < 100; i += 1) kept = work();
      return 100;
    };
    return 1e9 / rateOf(hundred, RUN_MS);
  };
  const rounds = Array.from({ length: ROUNDS }, () => ({ mine: nanosOf(ours), other: nanosOf(theirs) }));
  const [mine, other] = [median(rounds.map((each) => each.mine)), median(rounds.map((each) => each.other))];
  assert.ok(kept);
  return [what, `${mine.toFixed(0)} ns`, `dns-packet ${(other / mine).toFixed(1)} × the time`];
}

/** What was made last, so that making it cannot be left out. */
let kept: unknown;
