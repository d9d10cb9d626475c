// What a web site shows of itself: TLS, HSTS, protective headers, security.txt.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EvidenceParts, hasMembers, postureOf, rows, rowsOf } from '../test/index.ts';
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
rowsOf('end of a certificate', expires);

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
const is = (http: EvidenceParts['http'], status: string) => assert.equal(withHeaders(header, http).hsts.status, status);
rowsOf('HSTS', is);
it('HSTS is not missed on an error, where it may be the page’s', () => {
  for (const statusCode of [403, 404, 429, 503])
    assert.equal(withHeaders({}, { statusCode }).hsts.status, 'unmeasured', String(statusCode));
  assert.equal(withHeaders({}).hsts.status, 'absent');
});

describe('protective headers', () => {
  const csp = (policy: string) => ({ 'content-security-policy': policy });

  const reads = (headers: Record<string, string>, expected: Partial<Posture['headers']>) =>
    hasMembers(withHeaders(headers).headers, expected);
  rowsOf('protective headers', reads);
  rows(reads, [['64 KiB of a policy', csp(`${'a '.repeat(32_768)}`), { csp: 'weak' }]]);
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

  const reads = (text: string, problem: Posture['securityTxt']['problem']) =>
    hasMembers(partOf(text), { status: 'observed', problem });
  rowsOf('security.txt', reads);
  rows(reads, [['of 64 KiB', `${good}${'#'.repeat(65_536)}`, null]]);
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
