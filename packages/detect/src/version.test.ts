import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { distributionIn, platformOf, versionAfter } from './version.ts';

describe('a version', () => {
  const shows = (place: string, versions: Record<string, string | null>) => {
    for (const [text, version] of Object.entries(versions)) {
      it(`after '${place}' in ${JSON.stringify(text.slice(0, 60))} is ${version?.slice(0, 40)}`, () =>
        assert.equal(versionAfter(place, text), version));
    }
  };
  const ofDebian = '7.4.33-1+0~20231101.85+debian11~1.gbp1';
  shows('nginx/', {
    ...{ 'nginx/1.18.0 (Ubuntu)': '1.18.0', 'NGINX/1.25.3': '1.25.3', nginx: null, 'nginx/': null },
    ...{ 'nginx/unknown': null, 'mod_nginx/1.0': null, 'mod_nginx/1.0 nginx/1.2': '1.2', 'nginx/ nginx/1.2.': '1.2' },
  });
  shows('OpenSSL/', { 'Apache/2.4.52 (Win64) OpenSSL/1.1.1n PHP/8.1.2': '1.1.1n' });
  shows('PHP/', { [`PHP/${ofDebian}`]: ofDebian });
  shows('WordPress ', { 'WordPress v6.4': '6.4', 'WordPress vv6.4': null });
  shows('Jetty(', { 'Jetty(9.4.z-SNAPSHOT)': '9.4.z-SNAPSHOT' });
  shows('Phusion Passenger(R) ', { 'Phusion Passenger(R) 6.0.18': '6.0.18' });
  shows('x/', {
    ...{ [`x/1${'.1'.repeat(31)}`]: `1${'.1'.repeat(31)}`, [`x/1${'.1'.repeat(32)}`]: null },
    // Never cut to another version by the bound on the text.
    ...{ [`${' '.repeat(1_019)}x/1.2.34`]: '1.2.34', [`${' '.repeat(1_023)}x/1.2.34`]: '1.2.34' },
    [`${' '.repeat(1_024)}x/1.2.34`]: null,
    // Its lower case is a letter longer.
    '\u0130\u0130\u0130 x/1.2RC': '1.2rc',
  });
  const bounded = { [`${' '.repeat(1_020)}1.2.34`]: null };
  shows('', { ' v13.1.0 ': '13.1.0', '13.1.': '13.1', '1.2.3, 1.2.3': null, on: null, '': null, ...bounded });

  it('is a bounded token that stands in the text, or nothing, whatever the text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.array(fc.constantFrom('nginx/', 'v', '1', '.', '9.9', ' ', '(', ')', '+', '~', 'é'), { maxLength: 90 }),
    );
    holds(500, [text, fc.constantFrom('', 'nginx/', '(', '9')], (parts, place) => {
      const value = typeof parts === 'string' ? parts : parts.join('');
      const version = versionAfter(place, value);
      if (version === null) return;
      assert.match(version, /^[0-9][0-9A-Za-z.+~:_-]{0,63}$/);
      assert.ok(!version.endsWith('.'));
      assert.ok(value.toLowerCase().includes(version.toLowerCase()));
    });
  });
  it('is sought in time that grows with the text, which is read only so far', () => {
    const hostile = ['nginx/'.repeat(200_000), `nginx/${'1.'.repeat(500_000)}`, 'n'.repeat(1_000_000)];
    const startedAt = performance.now();
    for (const text of hostile) {
      for (let i = 0; i < 200; i += 1) assert.equal(versionAfter('nginx/', text), null);
      assert.equal(platformOf('1', `(${' ('.repeat(500_000)}`), null);
    }
    assert.ok(performance.now() - startedAt < 20_000);
  });
});

describe('a platform', () => {
  const is = (platform: string | null, shown: Record<string, string | null>) => {
    for (const [version, header] of Object.entries(shown)) {
      it(`of ${version} in ${header?.slice(0, 50)} is ${platform}`, () =>
        assert.equal(platformOf(version, header), platform));
    }
  };
  is('ubuntu', { '1.18.0': 'nginx/1.18.0 (Ubuntu)', '8.1.2-1ubuntu2.14': null, '1.24.0-1~jammy': null });
  is('ubuntu', { '8.1.2-1Ubuntu2.14': 'Apache (Debian) PHP/8.1.2-1Ubuntu2.14' });
  is('debian', { '7.4.33-1+deb11u5': null, '7.4.33-1+0~20231101.85+debian11~1.gbp1': null, '5.3.3-7+squeeze19': null });
  const redHat = 'Apache/2.4.6 (Red Hat Enterprise Linux) OpenSSL/1.0.2k-fips';
  is('red hat enterprise linux', { '2.4.6': redHat, '1.20.1-14.el9': null });
  is('amazon linux', { '2.4.57': 'Apache/2.4.57 (Amazon Linux) PHP/8.2', '1.2.3-4.amzn2': null });
  is('win64', { '1.1.1n': 'Apache/2.4.52 (Win64) OpenSSL/1.1.1n' });
  is(null, { '8.1.2': null, '9.4.1': 'Jetty(9.4.1)', '6.0.4': 'nginx + Phusion Passenger(R) 6.0.4' });
  for (const words of ['', ' (', ' (@RELEASE@)', ` (${'x'.repeat(33)})`])
    is(null, { '2.4.52': `Apache/2.4.52${words}` });
});

describe('a distribution', () => {
  it('is named in brackets', () => {
    const headers = ['(CentOS)', '(Red Hat Enterprise Linux) OpenSSL/1.0.2k-fips', '(Linux/SUSE)'];
    const names = headers.map((each) => distributionIn(`Apache/2.4.6 ${each}`));
    assert.deepEqual(names, ['centos', 'red hat enterprise linux', 'linux/suse']);
  });
  it('is none of other systems, nor without brackets or header', () => {
    for (const system of ['(Win64)', '(Unix)', '(FreeBSD)', '(Darwin)', '(Linux)', ''])
      assert.equal(distributionIn(`Apache/2.4.52 ${system}`), null, system);
    assert.equal(distributionIn(null), null);
  });
});
