import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DatabaseUrl } from './environment.ts';

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
