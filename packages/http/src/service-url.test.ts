import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countedAddress } from './counted-address.ts';
import { DatabaseUrl } from './environment.ts';
import { openedAt, urlAt } from './service-url.ts';

describe('where a service is asked', () => {
  it('has brackets around an IPv6 address', () => {
    assert.equal(urlAt({ host: '127.0.0.1', port: 80 }), 'http://127.0.0.1:80');
    assert.ok(URL.canParse(urlAt({ host: '::', port: 80 })));
  });

  it('is named to readers where they can open it', () => {
    assert.equal(openedAt({ host: '::1', port: 80 }), 'http://[::1]:80');
    assert.equal(openedAt({ host: '10.0.0.1', port: 80 }), 'http://10.0.0.1:80');
    assert.equal(openedAt({ host: 'stack.example', port: 80 }), 'http://stack.example:80');
    for (const host of ['0.0.0.0', '0', '::', '::0', '0:0:0:0:0:0:0:0'])
      assert.equal(openedAt({ host, port: 80 }), undefined, host);
    assert.equal(openedAt({ host: '127.0.0.1', port: 0 }), undefined);
  });
});

describe('the address of a database', () => {
  it('is one that is read as it is meant', () => {
    for (const url of [
      'sqlite:/var/lib/strata/a#b/@.db',
      'sqlite::memory:',
      'postgres://strata:secret@db.example/strata',
      'postgresql://strata:p%2Fa%23s%3Fs%40@db.example:5432/strata?sslmode=require',
      'postgres://strata:p@ss:[w]^ord@db.example/strata',
      'postgres://db.example/strata?user=strata@tenant',
      'postgres:///strata?host=/run/postgresql&user=strata@tenant',
      'postgres://strata@%2Frun%2Fpostgresql/strata',
      'postgres://[2001:db8::1]:5432/strata',
    ])
      assert.ok(DatabaseUrl.safeParse(url).success, url);
  });

  it('with a password that ends the host too early is refused by a sentence that says how to write it, and no more', () => {
    for (const password of 's3cr/et s3cr#et s3cr?et 12/s3cret 12#s3cret 12?s3cret /s3cret #s3cret ?s3cret'.split(' ')) {
      const { success, error } = DatabaseUrl.safeParse(`postgres://strata:${password}@db.example/strata`);
      assert.equal(success, false, password);
      const told = error.issues.map(({ message }) => message).join('\n');
      assert.match(told, /percent-encoded, as %2F/);
      assert.doesNotMatch(JSON.stringify(error.issues), /s3cr|strata/);
    }
  });

  it('of another database says what it must begin with, alone', () => {
    const { error } = DatabaseUrl.safeParse('mysql://strata:s3cr/et@db.example/strata');
    const messages = error?.issues.map(({ message }) => message);
    assert.deepEqual(messages, ['must begin with sqlite: or postgres://']);
  });
});

describe('an address that a limit counts', () => {
  const table: readonly (readonly [string, string])[] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['unknown', 'unknown'],
    ['192.0.2.1:4711', 'unknown'],
    ['', 'unknown'],
  ];
  for (const [address, counted] of table)
    it(`'${address}' is ${counted}`, () => assert.equal(countedAddress(address), counted));
});
