// What a web site shows of itself: TLS, HSTS, protective headers, security.txt.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { postureOf } from '../test/best-posture.ts';
import type { EvidenceParts } from '../test/evidence-of.ts';
import { hasMembers, rows } from '../test/rows.ts';
import type { Posture } from './posture-type.ts';

// Evidence of tests is observed on 2026-01-02.
const withHeaders = (headers: Record<string, string>, http: EvidenceParts['http'] = {}) =>
  postureOf({ http: { headers, ...http } });

for (const [problem, issue] of Object.entries({
  ...{ CERT_HAS_EXPIRED: 'expired', ERR_TLS_CERT_ALTNAME_INVALID: 'name-mismatch', constructor: 'untrusted' },
  ...{ UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'incomplete-chain', DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed' },
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted-root',
}))
  it(`TLS reads ${problem} as ${issue}`, () =>
    assert.equal(postureOf({ tls: { isTrusted: false, problem } }).tls.issue, issue));

const expires = (validFrom: string | null, validTo: string, expiresSoon: boolean) =>
  assert.equal(postureOf({ tls: { validFrom, validTo } }).tls.expiresSoon, expiresSoon);
rows(expires, [
  ['is in time with 28 of 90 days left', '2025-11-01T00:00:00Z', '2026-01-30T00:00:00Z', false],
  ['is late with 6 of 90 days left', '2025-10-10T00:00:00Z', '2026-01-08T00:00:00Z', true],
  ['is late with 13 days of a year left', '2025-01-10T00:00:00Z', '2026-01-15T00:00:00Z', true],
  ['is in time with 2 of 6 days left, as is usual', '2025-12-29T00:00:00Z', '2026-01-04T00:00:00Z', false],
  ['is late with hours of 5 days left', '2025-12-28T00:00:00Z', '2026-01-02T12:00:00Z', true],
  ['is late in a life of unknown length', null, '2026-01-10T00:00:00Z', true],
]);

const none = { status: 'absent', maxAge: null };
for (const [header, expected] of Object.entries({
  'max-age=31536000': { status: 'observed', maxAge: 31_536_000, includesSubdomains: false, isPreload: false },
  'Max-Age="63072"; includeSubDomains; preload': { maxAge: 63_072, includesSubdomains: true, isPreload: true },
  ...{ 'max-age=0': { status: 'observed', maxAge: 0 }, 'max-age=100, max-age=31536000': { maxAge: 100 } },
  ...{ includeSubDomains: none, 'max-age=-1': none, [`${';'.repeat(60_000)}max-age=1`]: none },
  'max-age=99999999999': { status: 'observed', maxAge: 31_536_000_000 },
}))
  it(`HSTS reads ${header.slice(0, 60)}`, () =>
    assert.partialDeepStrictEqual(withHeaders({ 'strict-transport-security': header }).hsts, expected));

const header = { 'strict-transport-security': 'max-age=31536000' };
const redirected = (from: string) => ({ url: 'https://other.test/', statusCode: 301, redirects: [from] });
const is = (http: EvidenceParts['http'], status: string) => assert.equal(withHeaders(header, http).hsts.status, status);
rows(is, [
  ['over HTTP is nothing', { url: 'http://example.com/' }, 'absent'],
  ['of a wall says nothing', { status: 'blocked' }, 'unmeasured'],
  ['of an error that passes says nothing', { statusCode: 503 }, 'unmeasured'],
  ['of too many requests says nothing', { statusCode: 429 }, 'unmeasured'],
  ['of another domain says nothing', { url: 'https://other.test/', statusCode: 200 }, 'unmeasured'],
  ['of the domain’s own redirect to another is its own', redirected('https://example.com/'), 'observed'],
  ['of such a redirect over HTTP is nothing', redirected('http://example.com/'), 'absent'],
  ['of a page not found is its own', { statusCode: 404 }, 'observed'],
  ['is not there without an answer', { status: 'timeout', url: null, statusCode: null }, 'unmeasured'],
]);
it('HSTS is not missed on an error, where it may be the page’s', () => {
  for (const statusCode of [403, 404, 429, 503])
    assert.equal(withHeaders({}, { statusCode }).hsts.status, 'unmeasured', String(statusCode));
  assert.equal(withHeaders({}).hsts.status, 'absent');
});

describe('protective headers', () => {
  const csp = (policy: string) => ({ 'content-security-policy': policy });
  const nonces = "script-src 'nonce-abc' 'strict-dynamic' https: 'unsafe-inline'";
  const anyone = { ...csp('frame-ancestors *'), 'x-frame-options': 'DENY' };
  const reads = (headers: Record<string, string>, expected: Partial<Posture['headers']>) =>
    hasMembers(withHeaders(headers).headers, expected);
  rows(reads, [
    ['none', {}, { status: 'observed', csp: 'none', isSniffingOff: false, isFramingLimited: false }],
    ['no referrer policy, which is careful', {}, { isReferrerCareful: true }],
    ['a strong policy', csp("default-src 'self'; frame-ancestors 'none'"), { csp: 'strong', isFramingLimited: true }],
    ['inline scripts', csp("script-src 'self' 'unsafe-inline'"), { csp: 'weak', isFramingLimited: false }],
    ['inline scripts by nonce', csp("script-src 'nonce-abc' 'unsafe-inline'"), { csp: 'strong' }],
    ['scripts by nonce and what they load', csp(nonces), { csp: 'strong' }],
    ['strict-dynamic that nothing starts', csp("script-src 'strict-dynamic' https:"), { csp: 'weak' }],
    ['scripts from any host', csp('script-src https://*'), { csp: 'weak' }],
    ['frames by anyone, whatever the old header says', anyone, { isFramingLimited: false }],
    ['scripts from anywhere', csp('default-src https:'), { csp: 'weak' }],
    ['a policy on frames alone', csp('FRAME-ANCESTORS https://a.test'), { csp: 'weak', isFramingLimited: true }],
    ['a policy only reported', { 'content-security-policy-report-only': "default-src 'self'" }, { csp: 'report-only' }],
    ['the old header for frames', { 'x-frame-options': 'SAMEORIGIN' }, { isFramingLimited: true }],
    ['an old header that says nothing', { 'x-frame-options': 'ALLOWALL' }, { isFramingLimited: false }],
    ['no sniffing', { 'x-content-type-options': 'NoSniff' }, { isSniffingOff: true }],
    ['a careless referrer', { 'referrer-policy': 'unsafe-url' }, { isReferrerCareful: false }],
    ['the last referrer policy', { 'referrer-policy': 'no-referrer, unsafe-url' }, { isReferrerCareful: false }],
    ['permissions', { 'permissions-policy': 'camera=()' }, { hasPermissionsPolicy: true }],
    ['64 KiB of a policy', csp(`${'a '.repeat(32_768)}`), { csp: 'weak' }],
  ]);
  it('are the site’s own only, and not those of an error', () => {
    const statusOf = (http: EvidenceParts['http']) => withHeaders(csp("default-src 'self'"), http).headers.status;
    for (const statusCode of [403, 404, 408, 429, 503])
      assert.equal(withHeaders({}, { statusCode }).headers.status, 'unmeasured', String(statusCode));
    const [url, statusCode] = ['https://other.test/', 302];
    const statuses = [{ status: 'blocked' } as const, { url }, { url, statusCode }].map(statusOf);
    assert.deepEqual(statuses, ['unmeasured', 'unmeasured', 'absent']);
  });
});

describe('security.txt', () => {
  const END = '2026-12-31T23:59:59Z';
  const good = `Contact: mailto:security@example.com\nExpires: ${END}\n`;
  const partOf = (text: string) => postureOf({ files: { securityTxt: { text } } }).securityTxt;
  const folded = 'EXPIRES: 2026-12-31T23:59:59+02:00\r\n# hi\r\ncontact: https://a.test/\r\n';
  const reads = (text: string, problem: Posture['securityTxt']['problem']) =>
    hasMembers(partOf(text), { status: 'observed', problem });
  rows(reads, [
    ['in order', good, null],
    ['with fields in any case and order', folded, null],
    ['without a contact', 'Expires: 2026-12-31T23:59:59Z', 'no-contact'],
    ['with an invalid contact', good.replace('mailto:', ''), 'no-contact'],
    ['without an end', 'Contact: mailto:s@example.com', 'no-expiry'],
    ['with two ends', `${good}Expires: 2027-01-01T00:00:00Z`, 'no-expiry'],
    ['with an invalid expiry', good.replace(END, 'never'), 'no-expiry'],
    ['with an end that is a bare number', good.replace(END, '1'), 'no-expiry'],
    ['after a byte order mark', `\uFEFF${good}`, null],
    ['that has ended', good.replace('2026-12', '2025-12'), 'expired'],
    ['of 64 KiB', `${good}${'#'.repeat(65_536)}`, null],
  ]);
  it('may be signed', () => {
    const signed = `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n${good}-----BEGIN PGP SIGNATURE-----\n`;
    assert.deepEqual([partOf(signed).isSigned, partOf(signed).problem, partOf(good).isSigned], [true, null, false]);
  });
  it('is observed where it is text, absent where it is missing, and unmeasured where it could not be asked for', () => {
    type Given = NonNullable<NonNullable<EvidenceParts['files']>['securityTxt']>;
    const statusOf = (securityTxt: Given, http: EvidenceParts['http'] = {}) =>
      postureOf({ http, files: { securityTxt } }).securityTxt.status;
    const page = { text: '<!DOCTYPE html><p>Contact: us' };
    for (const file of [page, { text: good, contentType: 'text/html; charset=utf-8' }, { status: 'missing' } as const])
      assert.equal(statusOf(file), 'absent', JSON.stringify(file));
    const late = { status: 'timeout' } as const;
    assert.deepEqual([statusOf(late), postureOf({}).securityTxt.status], ['unmeasured', 'unmeasured']);
    const redirect = { url: 'https://other.test/', statusCode: 301, redirects: ['https://example.com/'] };
    assert.deepEqual([statusOf({ text: good }, redirect), statusOf(late, redirect)], ['observed', 'absent']);
  });
});
