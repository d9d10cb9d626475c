// Queries against dns-packet's reading of them; the answers' side is tested over sockets beside the resolver.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import dnsPacket from 'dns-packet';
import { encodeQuery, isAskable, stampId } from './message.ts';

for (const name of ['a', 'example.com', '_dmarc.xn--bcher-kva.example', `${'x'.repeat(63)}.${'y.'.repeat(90)}z`]) {
  for (const hasEdns of [true, false]) {
    it(`the question for ${name.slice(0, 30)} ${hasEdns ? 'with' : 'without'} EDNS0 reads back as it was meant`, () => {
      assert.ok(isAskable(name));
      const query = encodeQuery(name, 'CAA', { hasEdns });
      stampId(query, 0xabcd);
      const { id, flags, questions, additionals = [] } = dnsPacket.decode(query);
      const asksForValidation = hasEdns ? dnsPacket.AUTHENTIC_DATA : 0;
      assert.deepEqual([id, flags], [0xabcd, dnsPacket.RECURSION_DESIRED | asksForValidation]);
      assert.deepEqual(questions, [{ name, type: 'CAA', class: 'IN' }]);
      assert.equal(additionals[0]?.type === 'OPT' && additionals[0].udpPayloadSize, hasEdns ? 1_232 : false);
      assert.equal(dnsPacket.decode.bytes, query.length);
    });
  }
}

it('a question that is not to be checked says so, and without EDNS0 says nothing of it', () => {
  const flagsOf = (hasEdns: boolean) => dnsPacket.decode(encodeQuery('a', 'A', { hasEdns, isUnchecked: true })).flags;
  assert.equal(flagsOf(true), dnsPacket.RECURSION_DESIRED | dnsPacket.CHECKING_DISABLED);
  assert.equal(flagsOf(false), dnsPacket.RECURSION_DESIRED);
});

it('the question for the root reads back as it was meant', () => {
  const query = encodeQuery('', 'NS', { isRecursive: false });
  const read = dnsPacket.decode(query);
  assert.deepEqual(read.questions, [{ name: '.', type: 'NS', class: 'IN' }]);
  assert.deepEqual([read.flags, dnsPacket.decode.bytes], [0, query.length]);
});

it('a query owes nothing to what its memory held before', () => {
  for (let i = 0; i < 200; i++) {
    Buffer.allocUnsafe(200).fill(0xff);
    const read = dnsPacket.decode(encodeQuery(`n${i}.example`, 'A', { hasEdns: i % 2 === 0 }));
    assert.deepEqual([read.id, read.questions?.[0]?.name, read.additionals?.length], [0, `n${i}.example`, (i + 1) % 2]);
  }
});
