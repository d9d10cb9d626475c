// What a domain publishes in the DNS: DNSSEC, CAA, BIMI, MTA-STS with its policy, TLS-RPT, DKIM keys.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import type { FileEvidence } from '../evidence/evidence.ts';
import { factorIn, postureOf as postureUnder } from '../test/best-posture.ts';
import type { EvidenceParts } from '../test/evidence-of.ts';
import { hasMembers, rows, rowsOf } from '../test/rows.ts';
import { testRulebook } from '../test/rulebook-of.ts';
import { readDkimKey } from './mail/dkim.ts';
import { rsaModulusBits } from './mail/rsa-key.ts';
import type { DkimKey, Posture } from './posture-type.ts';

const postureOf = (parts: EvidenceParts) => postureUnder(parts, testRulebook);
const ds = (algorithm: number, digestType = 2) => ({ keyTag: 1, algorithm, digestType, digest: 'ab' });

const judges = (records: ReturnType<typeof ds>[], isWeak: boolean | null, ...algorithms: number[]) =>
  hasMembers(postureOf({ ds: records }).dnssec, { isWeak, algorithms });
rowsOf('DNSSEC', judges);
it('DNSSEC is validated where the resolver does so', () => {
  const bogus = { policies: { validation: 'bogus' } } as const;
  const found = [{}, bogus].map((parts) => postureOf({ ds: [ds(13)], ...parts }).dnssec.validation);
  assert.deepEqual(found, ['unknown', 'bogus']);
});

describe('CAA', () => {
  const reads = (caa: string[], expected: Partial<Posture['caa']>) => hasMembers(postureOf({ caa }).caa, expected);
  rowsOf('CAA', reads);
  it('says whether the certificate’s authority is permitted, where both are known', () => {
    const tls = { issuer: 'Certy' };
    for (const [caa, parts, permits] of [
      [['0 issue certy.test'], { tls }, true],
      [['0 issue signly.test'], { tls }, false],
      [['0 issue signly.test', '0 issue unheard.test'], { tls }, null],
      [['0 issue certy.test'], { tls: { issuer: 'Unknown CA' } }, null],
      [['0 issue certy.test'], { tls: { ...tls, isTrusted: false } }, null],
    ] as const)
      assert.equal(postureOf({ caa, ...parts }).caa.permitsIssuer, permits, JSON.stringify([caa, parts]));
    assert.equal(postureUnder({ caa: ['0 issue certy.test'], tls }).caa.permitsIssuer, null);
  });
});

const logo = 'v=BIMI1; l=https://example.com/logo.svg; a=https://example.com/vmc.pem';
const bimiOf = (bimi: string[], dmarc = 'v=DMARC1; p=reject') => postureOf({ bimi, dmarc: [dmarc] }).bimi;

it('BIMI has a logo and a certificate', () => {
  const all = { hasRecord: true, hasLogo: true, hasCertificate: true, isEligible: true };
  assert.deepEqual(bimiOf([logo]), { status: 'observed', ...all });
  assert.equal(bimiOf(['v=BIMI1; l=https://example.com/logo.svg?v=2']).hasLogo, true);
  const again = ` ${logo.slice(9)}; l=https://b.com/b.svg`;
  const wrong = ['', ' l=http://example.com/logo.svg', ' l=https://example.com/logo.png', again];
  for (const other of [...wrong, ' avp=bogus; l=https://example.com/logo.svg', ' l=; avp=bogus'])
    assert.equal(bimiOf([`v=BIMI1;${other}`]).hasLogo, false, other);
});
it('BIMI is shown under an enforced policy only, for names below too', () => {
  for (const tags of ['p=none', 'p=reject; sp=none', 'p=quarantine; t=y', 'p=quarantine'])
    assert.equal(bimiOf([logo], `v=DMARC1; ${tags}`).isEligible, tags === 'p=quarantine', tags);
});
it('BIMI may be declined, and then lacks nothing', () => {
  const posture = postureOf({ bimi: ['v=BIMI1; l=; a=;'], dmarc: ['v=DMARC1; p=none'] });
  hasMembers(posture.bimi, { hasLogo: null, hasCertificate: false });
  assert.deepEqual(factorIn(posture, 'bimi')?.issues, []);
});
it('BIMI is not reported as refused while the policy is not known', () => {
  for (const parts of [{ dmarc: 'timeout' }, { policies: { dmarcParents: { com: 'timeout' } } }] as const) {
    const posture = postureOf({ bimi: [logo], ...parts });
    assert.deepEqual([posture.bimi.isEligible, factorIn(posture, 'bimi')?.issues], [null, []]);
  }
});
it('BIMI is null without a record', () => assert.equal(bimiOf([]).isEligible, null));

describe('MTA-STS', () => {
  const record = ['v=STSv1; id=20260101T000000'];
  const policy = (...lines: readonly string[]) => ['version: STSv1', ...lines].join('\r\n');
  const good = policy('mode: enforce', 'mx: mx.example.com', 'mx: *.backup.test', 'max_age: 604800');
  const mx = ['10 mx.example.com', '20 in.backup.test'];
  const mtaSts = (file: Partial<FileEvidence>, parts: EvidenceParts = {}): Posture['mtaSts'] =>
    postureOf({ mtaSts: record, mx, files: { mtaSts: file }, ...parts }).mtaSts;
  const reads = (text: string | Partial<FileEvidence>, expected: Partial<Posture['mtaSts']>) =>
    hasMembers(mtaSts(typeof text === 'string' ? { text } : text), { ...expected, hasRecord: true });
  rowsOf('MTA-STS', reads);
  rows(reads, [['is long', `${good}\r\n${'mx: a.test\r\n'.repeat(5000)}`, { mode: 'enforce', problem: null }]]);
  it('has an id of letters and digits', () => {
    for (const bad of ['v=STSv1', 'v=STSv1; id=', 'v=STSv1; id=a-b', `v=STSv1; id=${'1'.repeat(33)}`])
      assert.equal(mtaSts({ text: good }, { mtaSts: [bad] }).problem, 'bad-id', bad);
  });
  it('names the domain itself where it has no MX records', () => {
    const problemOf = (text: string) => mtaSts({ text }, { mx: 'empty' }).problem;
    assert.deepEqual([good, good.replace('mx.ex', 'ex')].map(problemOf), ['mx-mismatch', null]);
  });
  it('is absent with two records, or with a policy only', () => {
    assert.equal(mtaSts({ text: good }, { mtaSts: [...record, 'v=STSv1; id=2'] }).hasRecord, false);
    hasMembers(mtaSts({ text: good }, { mtaSts: [] }), { hasRecord: false, mode: null });
  });
});

const reportsOf = (record: string) => postureOf({ tlsRpt: [record] }).tlsRpt;
it('TLS-RPT has an address where one is of mail or HTTPS', () => {
  const found = { status: 'observed', hasRecord: true, problem: null };
  for (const rua of ['mailto:t@example.com', 'https://t.example.com/v1', 'nonsense,mailto:t@example.com'])
    assert.deepEqual(reportsOf(`v=TLSRPTv1;rua=${rua}`), { ...found, hasAddress: true }, rua);
  for (const rest of ['; rua=http://t.example.com', '; rua=', '', '; rua=mailto:a@a.com; rua=mailto:b@b.com'])
    assert.deepEqual(reportsOf(`v=TLSRPTv1${rest}`), { ...found, hasAddress: false }, rest);
});
it('TLS-RPT is not measured while its name does not answer', () =>
  assert.equal(postureOf({ tlsRpt: 'timeout' }).tlsRpt.hasAddress, null));

function rsa(bits: number, type: 'spki' | 'pkcs1' = 'spki'): string {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  return publicKey.export({ format: 'der', type }).toString('base64');
}

const strong = rsa(2048);
const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
const ed25519 = Buffer.from(x, 'base64url').toString('base64');

describe('a DKIM key', () => {
  const folded = strong.replace(/(.{64})/g, '$1 \t');
  const keys = { strong, folded, ed25519, short: rsa(1024), weak: rsa(512), bare: rsa(2048, 'pkcs1') };
  const named: Readonly<Record<string, string>> = { ...keys, cut: strong.slice(0, 200) };
  rowsOf('keys of DKIM', (text: string, expected: Partial<DkimKey> | null) => {
    const record = text.replace(/\{(\w+)\}/, (_, name) => named[name] ?? assert.fail(name));
    const key = readDkimKey('s1', record);
    return expected ? hasMembers(key, expected) : assert.equal(key, null);
  });
  it('of 64 KiB is not read to its end', () =>
    assert.equal(readDkimKey('s1', `v=DKIM1; p=${'A'.repeat(65_536)}`)?.problem, 'unreadable'));
});

const der = new Uint8Array(Buffer.from(strong, 'base64'));
it('the size of an RSA key is null for every key that is cut', () => {
  for (let length = 0; length < der.length; length++) assert.equal(rsaModulusBits(der.subarray(0, length)), null);
});
it('the size of an RSA key is null for keys of other kinds', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  assert.equal(rsaModulusBits(new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }))), null);
});
it('the size of an RSA key is read without harm from any bytes, and from keys with a byte changed', () => {
  const isSize = (bits: number | null) => bits === null || (bits > 0 && bits <= der.length * 8);
  holds(100, [fc.uint8Array({ maxLength: 64 })], (bytes) => isSize(rsaModulusBits(bytes)));
  holds(100, [fc.nat(der.length - 1), fc.nat(255)], (at, byte) => isSize(rsaModulusBits(der.with(at, byte))));
});
