// The resolver against servers that lie, over real sockets.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Answer } from 'dns-packet';
import { until } from '../../../../tests/support/until.ts';
import { a, cname, type DnsQuestion, type DnsScript, ns, reply } from '../test/dns-server.ts';
import { found, IMPATIENT, lookUp, rcode, scriptedResolver, silent, truncated } from '../test/scripted-resolver.ts';

/** An honest one-record answer whose bytes are then spoilt, in place or by new ones. */
const spoilt =
  (spoil: (bytes: Buffer) => Buffer | undefined): DnsScript =>
  (q) => {
    const [bytes] = found(q) as [Buffer];
    return [spoil(bytes) ?? bytes];
  };

const answers =
  (of: (name: string) => readonly Answer[]): DnsScript =>
  (q) => [reply(q, { answers: of(q.name) })];
const garbage: DnsScript = ({ bytes }) => {
  const head = Buffer.from([0x81, 0x80, 0, 1, 0, 9, 0, 0, 0, 0]);
  return [Buffer.concat([bytes.subarray(0, 2), head, bytes.subarray(12, -11), Buffer.alloc(40, 0xff)])];
};
const selfPointer: DnsScript = (q) => {
  const bytes = reply(q, { answers: [cname(q.name, 'x.test')] });
  bytes.set([0xc0, bytes.length - 8], bytes.length - 8);
  return [bytes];
};
const flood: DnsScript = (q) => {
  const record = reply(q, { answers: [a(q.name, '192.0.2.1')] }).subarray(q.bytes.length - 11);
  const head = reply(q);
  head.writeUInt16BE(0xffff, 6);
  return { raw: Buffer.concat([Buffer.from([0xff, 0xff]), head, Buffer.alloc(10_000_000, record)]) };
};
const malformed: Readonly<Record<string, DnsScript>> = {
  'garbage after the question': garbage,
  'an A record of 16 bytes': spoilt((b) => Buffer.concat([b.subarray(0, -5), Buffer.from([16]), Buffer.alloc(16, 8)])),
  'an A record with a length of 65535 bytes': spoilt((b) => void b.writeUInt16BE(65535, b.length - 6)),
  'a higher count of answers than there are': spoilt((b) => void b.writeUInt16BE(500, 6)),
  'a compression pointer to itself': selfPointer,
  'an answer for another name': answers(() => [a('other.test', '192.0.2.9')]),
  'a CNAME to itself': answers((name) => [cname(name, name)]),
  'a CNAME loop of two': answers((name) => [cname(name, 'b.test'), cname('b.test', name)]),
  'a CNAME loop over several answers': answers((name) => [cname(name, name === 'a.test' ? 'b.test' : 'a.test')]),
  'an endless CNAME chain': answers((name) => [cname(name, `x${name}`)]),
  'truncation, and a false length over TCP': truncated(() => ({ raw: Buffer.from([0xff, 0xff, 1, 2, 3]) })),
  'truncation, and 10 MB of records over TCP': truncated(flood),
};
const withoutQuestion: DnsScript = (q) => [Buffer.from([q.id >> 8, q.id & 255, 0x81, 0x85, 0, 0, 0, 0, 0, 0, 0, 0])];
for (const [what, script, status] of [
  ...Object.entries(malformed).map(([what, script]) => [what, script, 'malformed'] as const),
  ['REFUSED', rcode(5), 'refused'],
  ['SERVFAIL', rcode(2), 'servfail'],
  ['an error without question', withoutQuestion, 'refused'],
] as const)
  it(`${what} ends as ${status}`, async () => {
    const lookup = await lookUp(script);
    assert.deepEqual([lookup.status, lookup.records], [status, []], lookup.detail);
  });

/** Over TCP, a byte at a time: a length of 500, then the beginning of something. */
const drip = (q: DnsQuestion) => ({ drip: Buffer.concat([Buffer.from([1, 244]), q.bytes]) });
const evil = (q: DnsQuestion) => reply({ ...q, name: 'evil.test' }, { answers: [a('evil.test', '192.0.2.66')] });
for (const [what, script] of [
  ['silence', silent],
  ['another id', (q) => found({ ...q, id: q.id ^ 1 })],
  ['another question', (q) => [evil(q)]],
  ['the question itself', (q) => [q.bytes]],
  ['a drip of bytes over TCP', truncated(drip)],
] as const satisfies readonly (readonly [string, DnsScript])[])
  it(`${what} is ignored until the time-out`, async () => {
    const { status, records } = await lookUp(script, 'A', IMPATIENT);
    assert.deepEqual([status, records], ['timeout', []]);
  });

it('an answer for another name alone is asked for again, at the other upstream where there is one', async () => {
  const astray = answers(() => [a('other.test', '192.0.2.9')]);
  let count = 0;
  const { records, asked } = await lookUp((q) => (count++ === 0 ? astray(q) : found(q)));
  assert.deepEqual([records, asked], [['192.0.2.1'], ['A a.test', 'A a.test']]);
  await using scripted = await scriptedResolver([astray, found]);
  for (const name of ['a.test', 'b.test'])
    assert.deepEqual((await scripted.resolver.query(name, 'A')).records, ['192.0.2.1']);
  const always = await lookUp(astray);
  assert.deepEqual([always.status, always.asked.length], ['malformed', 4]);
  assert.match(always.detail ?? '', /another name/);
});

it('a forged answer before the true one is passed over', async () =>
  assert.deepEqual((await lookUp((q) => [evil(q), ...(found(q) as Buffer[])])).records, ['192.0.2.1']));

it('an answer that repeats the question in another letter case is an answer to it', async () =>
  assert.deepEqual((await lookUp((q) => found({ ...q, name: 'A.tEsT' }))).records, ['192.0.2.1']));

it('damage to any byte never throws and never invents an address', async () => {
  const damaged: DnsScript = (q) => {
    const bytes = reply(q, { answers: [cname(q.name, 'b.test'), a('b.test', '192.0.2.1')] });
    const seed = Number(q.name.slice(1, -5));
    bytes[12 + (seed % (bytes.length - 12))] = (seed * 101) & 0xff;
    return [bytes];
  };
  await using scripted = await scriptedResolver([damaged], IMPATIENT);
  const lookups = Array.from({ length: 400 }, (_, i) => scripted.resolver.query(`h${i}.test`, 'A'));
  for (const { status, records } of await Promise.all(lookups)) assert.ok(status === 'found' || records.length === 0);
});

it('a server that answers FORMERR to EDNS0 is asked again without it, once', async () => {
  const { records, asked } = await lookUp((q) => (q.bytes[11] === 1 ? [reply(q, { rcode: 1 })] : found(q)));
  assert.deepEqual([records, asked], [['192.0.2.1'], ['A a.test', 'A a.test']]);
  const always = await lookUp(rcode(1));
  assert.deepEqual([always.status, always.asked.length], ['servfail', 2]);
  assert.match(always.detail ?? '', /response code 1/);
});

it('records that do not fit a datagram come over TCP, 500 of 600 are kept, and the detail is reported', async () => {
  const answers = Array.from({ length: 600 }, (_, i) => a('a.test', `192.0.${2 + (i >> 8)}.${i & 255}`));
  const { status, records, detail } = await lookUp(truncated((q) => [reply(q, { answers })]));
  assert.deepEqual([status, records.length], ['found', 500]);
  assert.match(detail ?? '', /only 500 of 600/);
});

it('a chain of 20 links is too long, and a chain of 16 is not', async () => {
  const chain = (links: number) =>
    lookUp((q) => {
      const names = [q.name, ...Array.from({ length: links }, (_, i) => `l${i}.test`)];
      const answers = names.slice(1).map((to, i) => cname(names[i] ?? '', to));
      return [reply(q, { answers: [...answers, a(names.at(-1) ?? '', '192.0.2.1')] })];
    });
  assert.equal((await chain(20)).status, 'malformed');
  const { status, aliases } = await chain(16);
  assert.deepEqual([status, aliases.length], ['found', 16]);
});

it('an answer of another class than the question is not a record', async () => {
  const { records } = await lookUp(spoilt((b) => void b.writeUInt16BE(3, b.length - 12)));
  assert.deepEqual(records, []);
});

it('time-outs and failures give their slots back', async () => {
  const script = (q: DnsQuestion) => (q.name.startsWith('silent') ? [] : found(q));
  await using scripted = await scriptedResolver([script], { maxInFlight: 2, ...IMPATIENT });
  const late = Array.from({ length: 6 }, (_, i) => scripted.resolver.query(`silent${i}.test`, 'A'));
  for (const { status } of await Promise.all(late)) assert.equal(status, 'timeout');
  assert.equal((await scripted.resolver.query('a.test', 'A')).status, 'found');
});

it('an abort stops the caller at once, in flight and in the queue', async () => {
  await using scripted = await scriptedResolver([silent], { maxInFlight: 1 });
  const stopping = new AbortController();
  const { signal } = stopping;
  const waits = ['a.test', 'b.test', 'c.test'].map((name) => scripted.resolver.query(name, 'A', { signal }));
  const rejected = Promise.all(waits.map((wait) => assert.rejects(wait, /^Error: stopped$/)));
  await until(() => scripted.asked.length === 1);
  stopping.abort(new Error('stopped'));
  await rejected;
});

for (const [what, script] of Object.entries({ 'over UDP': silent, 'over TCP': truncated(drip) }))
  it(`disposing settles questions in flight ${what}, in the queue, and asked later`, async () => {
    await using scripted = await scriptedResolver([script], { maxInFlight: 2 });
    const { resolver, asked } = scripted;
    const waits = Array.from({ length: 5 }, (_, i) => resolver.query(`h${i}.test`, 'A'));
    await until(() => asked.at(-1)?.endsWith('/tcp') || (script === silent && asked.length === 2));
    await resolver[Symbol.asyncDispose]();
    for (const { status } of await Promise.all(waits)) assert.equal(status, 'skipped');
    assert.equal((await resolver.query('late.test', 'A')).status, 'skipped');
  });

// A dot inside a label must not pass for two labels.
for (const [what, at, bytes, expected] of [
  ['strange bytes', 0, [0x00, 0xff, 0x20, 0x5c], '\\000\\255\\032\\092vil.test'],
  ['a dot inside a label', 2, [0x2e], 'ns\\046evil.test'],
] as const)
  it(`a name with ${what} in an answer stays one name`, async () => {
    const { records } = await lookUp((q) => {
      const message = reply(q, { answers: [ns(q.name, 'ns-evil.test')] });
      message.set(bytes, message.indexOf('ns-evil') + at);
      return [message];
    }, 'NS');
    assert.deepEqual(records, [expected]);
  });
