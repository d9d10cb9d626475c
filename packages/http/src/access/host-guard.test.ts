// Which hosts and origins a service accepts, the addresses it has, and those that its limits count.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { countedAddress, countedNetworks } from '../limits/counted-address.ts';
import { ERRORS } from '../problems/errors.ts';
import { publicUrlOf, urlAt } from '../service-url.ts';
import { DatabaseUrl } from '../settings/environment.ts';
import { createHostGuard } from './host-guard.ts';

/** The status of the refusal of a request; undefined where it is accepted. */
function asked(
  listening: { readonly host?: string; readonly allowedHosts?: readonly string[] },
  host: string | undefined,
  more: { readonly origin?: string; readonly proxyHost?: string; readonly fetchSite?: string } = {},
): number | undefined {
  const guard = createHostGuard({ host: '127.0.0.1', allowedHosts: [], ...listening });
  const { origin, fetchSite } = more;
  const headers = { host, ...(origin !== undefined && { origin }), ...(fetchSite && { 'sec-fetch-site': fetchSite }) };
  const refusal = guard.refusalOf({ headers, host: more.proxyHost ?? host ?? '', raw: { rawHeaders: [] } });
  return refusal && ERRORS[refusal.code].status;
}

for (const host of [
  ...['localhost', 'localhost:8787', 'LOCALHOST:8787', 'localhost.', 'explorer.localhost:8787', '127.0.0.1'],
  ...['127.0.0.1:8787', '127.8.9.10', '[::1]', '[::1]:8787', '192.168.1.5:8787', '[2001:db8::1]:8787', '203.0.113.9'],
])
  it(`a service of this machine alone answers requests to ${host}`, () => assert.equal(asked({}, host), undefined));

for (const host of [
  ...['evil.example', 'evil.example:8787', '127.0.0.1.evil.example', 'localhost.evil.example', 'localhostile'],
  ...['127.0.0.1.nip.io:8787', 'evil.example.', '', ' ', 'a b', '@', 'localhost@evil.example', '%00localhost'],
  ...['evil.example/@localhost', 'evil.example?localhost', 'evil.example#localhost', 'localhost\\.evil.example'],
  ...[`${'a'.repeat(400)}.localhost`, 'localhost,evil.example', '[::1]evil.example'],
])
  it(`a service of this machine alone refuses requests to '${host.slice(0, 30)}'`, () =>
    assert.equal(asked({}, host), 421));

it('a service of this machine alone accepts its configured names in any case, and no similar ones', () => {
  const named = { allowedHosts: ['Stack.Example.com', '[::]'] };
  assert.equal(asked(named, 'stack.example.com:443'), undefined);
  assert.equal(asked(named, 'STACK.EXAMPLE.COM.'), undefined);
  assert.equal(asked(named, 'other.stack.example.com'), 421);
  assert.equal(asked(named, 'stack.example.com.evil.example'), 421);
  assert.equal(asked({ allowedHosts: ['*'] }, 'whatever.example'), undefined);
});

it('a service of this machine alone refuses a request with two Host headers, in any case of letters', () => {
  const guard = createHostGuard({ host: 'localhost', allowedHosts: ['*'] });
  const asked = (...rawHeaders: string[]) =>
    guard.refusalOf({ headers: { host: 'localhost' }, host: 'localhost', raw: { rawHeaders } })?.code;
  assert.equal(asked('Host', 'localhost', 'hOST', 'localhost'), 'invalid_parameter');
  assert.equal(asked('Host', 'localhost', 'X-A', 'Host'), undefined);
});

it('a service of this machine alone answers HTTP/1.0 without a host, which no browser speaks', () =>
  assert.equal(asked({}, undefined), undefined));

it('a service of this machine alone accepts pages of this machine and of the requested host, and programs', () => {
  for (const origin of ['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:8788', 'http://app.localhost'])
    assert.equal(asked({}, '127.0.0.1:8787', { origin }), undefined, origin);
  assert.equal(asked({}, '192.168.1.5:8787', { origin: 'http://192.168.1.5:8787' }), undefined);
  for (const origin of [undefined, 'app://obsidian.md', 'tauri://localhost', 'vscode-webview://1a2b'])
    assert.equal(asked({}, 'localhost', origin === undefined ? {} : { origin }), undefined, origin);
});

for (const origin of [
  ...['http://evil.example', 'https://evil.example', 'https://localhost.evil.example', 'http://6.6.6.6', 'null', ''],
  ...['http://192.168.1.66', 'http://evil.example:8787', 'https://evil.example@localhost.evil.example', 'nonsense'],
])
  it(`a service of this machine alone refuses pages of '${origin}'`, () => {
    for (const host of ['localhost:8787', '127.0.0.1:8787', '[::1]:8787', '192.168.1.5:8787'])
      assert.equal(asked({}, host, { origin }), 403, host);
  });

it('a service of this machine alone accepts a form of its own page, which has no referrer', () => {
  for (const [fetchSite, status] of [['same-origin'], ['same-site', 403], ['cross-site', 403], ['none', 403]] as const)
    assert.equal(asked({}, '127.0.0.1:8787', { origin: 'null', fetchSite }), status, fetchSite);
  assert.equal(asked({}, 'evil.example', { origin: 'null', fetchSite: 'same-origin' }), 421);
});

it('a service of this machine alone accepts pages of configured names, and behind a proxy those of the host that the proxy received', () => {
  const origin = 'https://app.example';
  assert.equal(asked({ allowedHosts: ['app.example'] }, 'localhost', { origin }), undefined);
  assert.equal(asked({ allowedHosts: ['*'] }, 'localhost', { origin }), undefined);
  assert.equal(asked({ allowedHosts: ['*'] }, 'localhost', { origin: 'null' }), undefined);
  assert.equal(asked({}, '127.0.0.1:8787', { origin, proxyHost: 'app.example' }), undefined);
  assert.equal(asked({}, '127.0.0.1:8787', { origin, proxyHost: 'other.example' }), 403);
});

it('a service of this machine alone refuses with the name of the setting and nothing of the request, and accepts no host because it was refused before', () => {
  const guard = createHostGuard({ host: 'localhost', allowedHosts: [] });
  const detailOf = (host: string, origin: object = {}) =>
    guard.refusalOf({ headers: { host, ...origin }, host, raw: { rawHeaders: [] } })?.message ?? '';
  for (let time = 0; time < 2; time += 1) {
    assert.match(detailOf('evil.example'), /^(?!.*evil).*STRATA_ALLOWED_HOSTS/);
    assert.equal(detailOf('localhost'), '');
  }
  const page = { origin: 'https://evil.example' };
  assert.match(detailOf('localhost', page), /^(?!.*evil).*STRATA_ALLOWED_HOSTS/);
});

const open = { host: '0.0.0.0' };

it('a service that listens on a public address accepts any host until its names are configured', () => {
  assert.equal(asked(open, 'api:8787'), undefined);
  assert.equal(asked({ ...open, allowedHosts: ['api'] }, 'api:8787'), undefined);
  assert.equal(asked({ ...open, allowedHosts: ['api'] }, 'other:8787'), 421);
  assert.equal(asked({ ...open, allowedHosts: ['api'] }, '10.0.0.7:8787'), undefined, 'health checks use the address');
});

it('a service that listens on a public address accepts any page for its public name, and no page of another site for a name of this machine', () => {
  assert.equal(asked(open, 'api.example', { origin: 'https://app.example' }), undefined);
  assert.equal(asked(open, 'localhost:8787', { origin: 'https://app.example' }), 403);
});

const isCrossSite = (
  headers: Record<string, string>,
  host = 'Stack.example:8787',
  allowedHosts: readonly string[] = [],
) => createHostGuard({ host: '127.0.0.1', allowedHosts }).isCrossSite({ headers, host });
const origin = (page: string) => ({ 'sec-fetch-site': 'cross-site', origin: page });

it('a page of another site is detected by Sec-Fetch-Site, if browsers send no Origin', () => {
  for (const from of ['cross-site', 'same-site', 'whatever'])
    assert.equal(isCrossSite({ 'sec-fetch-site': from }), true, from);
  for (const from of ['same-origin', 'none']) assert.equal(isCrossSite({ 'sec-fetch-site': from }), false, from);
  assert.equal(isCrossSite({ 'sec-fetch-site': 'same-site', origin: 'http://stack.example:8787' }), true);
  for (const page of ['http://stack.example', 'null', '', 'app://x'])
    assert.equal(isCrossSite({ origin: page }), true, page);
  assert.deepEqual([isCrossSite({ origin: 'http://stack.example:8787' }), isCrossSite({})], [false, false]);
});

it('a page of another site is not a page of this machine when a service of this machine is requested', () => {
  for (const page of ['http://localhost:5173', 'http://127.0.0.1:5173', 'http://[::1]', 'http://app.localhost'])
    for (const host of ['127.0.0.1:8787', 'localhost:8787', '[::1]:8787'])
      assert.equal(isCrossSite(origin(page), host), false, `${page} ${host}`);
  assert.equal(isCrossSite(origin('http://localhost:5173')), true, 'of a service that is elsewhere');
  for (const page of ['https://evil.example', 'http://localhost.evil.example', 'http://192.168.1.66', 'null'])
    assert.equal(isCrossSite(origin(page), 'localhost:8787'), true, page);
});

it('a page of another site is not a page of an allowed name', () => {
  const named = ['app.example'];
  assert.equal(isCrossSite(origin('https://app.example'), 'api.example', named), false);
  assert.equal(isCrossSite(origin('https://app.example.evil'), 'api.example', named), true);
  assert.equal(isCrossSite(origin('null'), 'api.example', named), true);
  assert.equal(isCrossSite(origin('https://any.example'), 'api.example', ['*']), false);
});

it('the URL of a service has brackets around an IPv6 address', () => {
  assert.equal(urlAt({ host: '127.0.0.1', port: 80 }), 'http://127.0.0.1:80');
  assert.ok(URL.canParse(urlAt({ host: '::', port: 80 })));
});

it('the URL of a service is printed only where a reader can open it', () => {
  assert.equal(publicUrlOf({ host: '::1', port: 80 }), 'http://[::1]:80');
  assert.equal(publicUrlOf({ host: '10.0.0.1', port: 80 }), 'http://10.0.0.1:80');
  assert.equal(publicUrlOf({ host: 'stack.example', port: 80 }), 'http://stack.example:80');
  for (const host of ['0.0.0.0', '0', '::', '::0', '0:0:0:0:0:0:0:0'])
    assert.equal(publicUrlOf({ host, port: 80 }), undefined, host);
  assert.equal(publicUrlOf({ host: '127.0.0.1', port: 0 }), undefined);
});

it('the address of a database is accepted in each valid form', () => {
  for (const url of casesOf<string[]>('http', 'addresses of databases'))
    assert.ok(DatabaseUrl.safeParse(url).success, url);
});

it('the address of a database with an unescaped character in the password is refused with the correct notation, and without any part of the URL', () => {
  const passwords = 's3cr/et s3cr#et s3cr?et 12/s3cret 12#s3cret 12?s3cret 12/?s3cret /s3cret #s3cret ?s3cret';
  for (const password of passwords.split(' ')) {
    const { success, error } = DatabaseUrl.safeParse(`postgres://strata:${password}@db.example/strata`);
    assert.equal(success, false, password);
    const text = error.issues.map(({ message }) => message).join('\n');
    assert.match(text, /as %2F/);
    assert.doesNotMatch(JSON.stringify(error.issues), /s3cr|strata/);
  }
});

it('the address of another kind of database is refused with the allowed beginnings alone', () => {
  const { error } = DatabaseUrl.safeParse('mysql://strata:s3cr/et@db.example/strata');
  const messages = error?.issues.map(({ message }) => message);
  assert.deepEqual(messages, ['must begin with sqlite: or postgres://']);
});

for (const [address, counted] of casesOf<[string, string][]>('http', 'counted addresses'))
  it(`the address '${address}' is ${counted}`, () => {
    assert.equal(countedAddress(address), counted);
    assert.equal(countedAddress(counted), counted);
  });

it('an address that a limit counts is part of networks, each of which has a higher limit', () => {
  const named = (address: string) => countedNetworks(address).map(({ name, times }) => `${name} ${times}`);
  assert.deepEqual(named('192.0.2.1'), ['192.0.2.1 1', '* 1000']);
  const around = ['2001:db8:1:fedc::/64 1', '2001:db8:1:fe00::/56 4', '2001:db8:1::/48 16', '* 1000'];
  assert.deepEqual(named('2001:db8:1:fedc:5::6'), around);
  assert.deepEqual(named('2001:db8:1:fedc::/64'), around);
  assert.equal(named('2001:db8:1:7::')[1], '2001:db8:1:0::/56 4');
});
