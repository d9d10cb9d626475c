import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { generateKeyPair } from '@libp2p/crypto/keys';
import { peerIdFromPrivateKey } from '@libp2p/peer-id';
import { base58btc } from 'multiformats/bases/base58';
import { createJoinToken, JoinTokenError, readJoinToken } from './join-token.ts';

const peer = peerIdFromPrivateKey(await generateKeyPair('Ed25519')).toString();
const relay = peerIdFromPrivateKey(await generateKeyPair('Ed25519')).toString();
const addresses = [
  `/ip4/192.0.2.7/tcp/4001/p2p/${peer}`,
  `/ip6/2001:db8::1/tcp/4002/ws/p2p/${peer}`,
  `/dns4/strata.example/tcp/443/tls/ws/p2p/${peer}`,
  `/ip4/192.0.2.9/tcp/4001/p2p/${relay}/p2p-circuit/p2p/${peer}`,
];

/** A token with a right checksum around any bytes. */
function sealed(body: Uint8Array): string {
  const check = createHash('sha256').update('strata1').update(body).digest().subarray(0, 4);
  return `strata1${base58btc.baseEncode(Buffer.concat([body, check]))}`;
}

describe('join token', () => {
  it('reads back as it was made, with a network key or without', () => {
    for (const token of [
      { peer, addresses },
      { peer, addresses, networkKey: new Uint8Array(randomBytes(32)) },
    ])
      assert.deepEqual(readJoinToken(createJoinToken(token)), token);
  });

  it('is short, and one word to select', () => {
    const token = createJoinToken({ peer, addresses: addresses.slice(0, 1) });
    assert.match(token, /^strata1[1-9A-HJ-NP-Za-km-z]+$/);
    assert.ok(token.length < 80, `${token.length} characters`);
  });

  it('tells eight addresses at most, and needs one', () => {
    const many = Array.from({ length: 30 }, (_, index) => `/ip4/192.0.2.${index}/tcp/4001/p2p/${peer}`);
    assert.deepEqual(readJoinToken(createJoinToken({ peer, addresses: many })).addresses, many.slice(0, 8));
    assert.throws(() => createJoinToken({ peer, addresses: [] }), JoinTokenError);
  });

  it('is refused with any character changed, missing or added', () => {
    const token = createJoinToken({ peer, addresses });
    for (let at = 0; at < token.length; at += 1) {
      const other = token[at] === 'x' ? 'y' : 'x';
      assert.throws(() => readJoinToken(token.slice(0, at) + other + token.slice(at + 1)), JoinTokenError);
      assert.throws(() => readJoinToken(token.slice(0, at)), JoinTokenError);
    }
    assert.throws(() => readJoinToken(`${token}1`), JoinTokenError);
  });

  it('is refused, and nothing else happens, whatever stands in it', () => {
    const good = Buffer.from(base58btc.baseDecode(createJoinToken({ peer, addresses }).slice(7))).subarray(0, -4);
    for (let round = 0; round < 2_000; round += 1) {
      const body = round % 2 ? randomBytes(round % 200) : Buffer.from(good);
      if (body.length > 0) body[round % body.length] = round;
      try {
        const token = readJoinToken(sealed(body.subarray(0, round % 3 ? body.length : round % body.length)));
        assert.ok(token.addresses.length > 0 && token.addresses.length <= 8);
      } catch (error) {
        assert.ok(error instanceof JoinTokenError, String(error));
      }
    }
    for (const text of ['', 'strata1', 'strata10OIl', `strata1${'z'.repeat(1_000_000)}`, 'strata2abc', 'strata1é', ' '])
      assert.throws(() => readJoinToken(text), JoinTokenError);
  });
});
