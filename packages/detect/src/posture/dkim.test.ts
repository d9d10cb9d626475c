import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { DkimKey } from '../posture-type.ts';
import { hasMembers, rows } from '../test/rows.ts';
import { readDkimKey } from './dkim.ts';
import { rsaModulusBits } from './rsa-key.ts';

function rsa(bits: number, type: 'spki' | 'pkcs1' = 'spki'): string {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  return publicKey.export({ format: 'der', type }).toString('base64');
}

const strong = rsa(2048);
const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
const ed25519 = Buffer.from(x, 'base64url').toString('base64');

describe('a DKIM key', () => {
  const reads = (record: string, expected: Partial<DkimKey> | null) =>
    expected ? hasMembers(readDkimKey('s1', record), expected) : assert.equal(readDkimKey('s1', record), null);
  rows(reads, [
    ['of 2,048 bits is in order', `v=DKIM1; k=rsa; p=${strong}`, { type: 'rsa', bits: 2048, problem: null }],
    ['needs no version and no type', `p=${strong}`, { type: 'rsa', bits: 2048, problem: null }],
    ['may be folded', `v=DKIM1; p=${strong.replace(/(.{64})/g, '$1 \t')}`, { bits: 2048, problem: null }],
    ['may be bare', `v=DKIM1; p=${rsa(2048, 'pkcs1')}`, { bits: 2048, problem: null }],
    ['of 1,024 bits is short', `v=DKIM1; p=${rsa(1024)}`, { bits: 1024, problem: 'short' }],
    ['of 512 bits is weak', `v=DKIM1; p=${rsa(512)}`, { bits: 512, problem: 'weak' }],
    ['may be of Ed25519', `v=DKIM1; k=ed25519; p=${ed25519}`, { type: 'ed25519', bits: 256, problem: null }],
    ['of Ed25519 has 32 bytes', `v=DKIM1; k=ed25519; p=${ed25519}AAAA`, { bits: null, problem: 'unreadable' }],
    ['without a key is revoked', 'v=DKIM1; k=rsa; p=', { bits: null, problem: 'revoked' }],
    ['of another type helps nobody', `v=DKIM1; k=dsa; p=${strong}`, { problem: 'unknown-type' }],
    ['for SHA-1 alone helps nobody', `v=DKIM1; h=sha1; p=${strong}`, { problem: 'sha1-only' }],
    ['for both hashes is in order', `v=DKIM1; h=sha1:sha256; p=${strong}`, { problem: null }],
    ['for something else than mail', `v=DKIM1; s=tls; p=${strong}`, { problem: 'not-for-mail' }],
    ['for reports of TLS is in order', `v=DKIM1; s=tlsrpt; p=${strong}`, { problem: null }],
    ['in testing says so', `v=DKIM1; t=y:s; p=${strong}`, { isTesting: true, problem: null }],
    ['that is no base64', 'v=DKIM1; p=%%%%', { problem: 'unreadable' }],
    ['that is cut', `v=DKIM1; p=${strong.slice(0, 200)}`, { bits: null, problem: 'unreadable' }],
    ['of another version is none', `v=DKIM2; p=${strong}`, null],
    ['is none without p', 'v=spf1 -all', null],
  ]);
  it('of 64 KiB is not read to its end', () =>
    assert.equal(readDkimKey('s1', `v=DKIM1; p=${'A'.repeat(65_536)}`)?.problem, 'unreadable'));
});

describe('the size of an RSA key', () => {
  const der = new Uint8Array(Buffer.from(strong, 'base64'));
  it('is null for every key that is cut', () => {
    for (let length = 0; length < der.length; length++) assert.equal(rsaModulusBits(der.subarray(0, length)), null);
  });
  it('is null for keys of other kinds', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    assert.equal(rsaModulusBits(new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }))), null);
  });
  it('is read without harm from any bytes, and from keys with a byte changed', () => {
    const isSize = (bits: number | null) => bits === null || (bits > 0 && bits <= der.length * 8);
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => isSize(rsaModulusBits(bytes))));
    fc.assert(
      fc.property(fc.nat(der.length - 1), fc.nat(255), (at, byte) => isSize(rsaModulusBits(der.with(at, byte)))),
    );
  });
});
