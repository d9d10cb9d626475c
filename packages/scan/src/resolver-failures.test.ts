// The resolver when servers drip, cut off, do not support EDNS0, or have not answered while it is disposed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../../../tests/support/until.ts';
import { a, cname, type DnsQuestion, ns, reply } from './test/dns-server.ts';
import { found, IMPATIENT, lookUp, rcode, scriptedResolver, silent, truncated } from './test/scripted-resolver.ts';

/** Over TCP, a byte at a time: a length of 500, then the beginning of something. */
const drip = (q: DnsQuestion) => ({ drip: Buffer.concat([Buffer.from([1, 244]), q.bytes]) });

it('a server that answers FORMERR to EDNS0 is asked again without it', async () => {
  const { records, asked } = await lookUp((q) => (q.bytes[11] === 1 ? [reply(q, { rcode: 1 })] : found(q)));
  assert.deepEqual([records, asked], [['192.0.2.1'], ['A a.test', 'A a.test']]);
});

it('FORMERR to the plain question too is a failure, after one repetition', async () => {
  const { status, detail, asked } = await lookUp(rcode(1));
  assert.deepEqual([status, asked.length], ['servfail', 2]);
  assert.match(detail ?? '', /response code 1/);
});

it('records that do not fit a datagram come over TCP, 500 of 600 are kept, and the detail is reported', async () => {
  const answers = Array.from({ length: 600 }, (_, i) => a('a.test', `192.0.${2 + (i >> 8)}.${i & 255}`));
  const { status, records, detail } = await lookUp(truncated((q) => [reply(q, { answers })]));
  assert.deepEqual([status, records.length], ['found', 500]);
  assert.match(detail ?? '', /only 500 of 600/);
});

it('a TCP server that drips bytes gets no more time than a silent one', async () =>
  assert.equal((await lookUp(truncated(drip), 'A', IMPATIENT)).status, 'timeout'));

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
  const { records } = await lookUp((q) => {
    const [bytes] = found(q) as [Buffer];
    bytes.writeUInt16BE(3, bytes.length - 12);
    return [bytes];
  });
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
  const signal = AbortSignal.timeout(30);
  const waits = ['a.test', 'b.test', 'c.test'].map((name) => scripted.resolver.query(name, 'A', { signal }));
  await Promise.all(waits.map((wait) => assert.rejects(wait, { name: 'TimeoutError' })));
});

for (const [what, script] of [
  ['over UDP', silent],
  ['over TCP', truncated(drip)],
] as const) {
  it(`disposing settles questions in flight ${what}, in the queue, and asked later`, async () => {
    await using scripted = await scriptedResolver([script], { maxInFlight: 2 });
    const { resolver, asked } = scripted;
    const waits = Array.from({ length: 5 }, (_, i) => resolver.query(`h${i}.test`, 'A'));
    await until(() => asked.at(-1)?.endsWith('/tcp') || (script === silent && asked.length === 2));
    await resolver[Symbol.asyncDispose]();
    for (const { status } of await Promise.all(waits)) assert.equal(status, 'skipped');
    assert.equal((await resolver.query('late.test', 'A')).status, 'skipped');
  });
}

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
