import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRecord } from './record.ts';
import { parseShared } from './shared-records.ts';

describe('records of others', () => {
  it('are parsed once, and read as ever', () => {
    const record = 'v=spf1 ip4:192.0.2.0/24 include:a.test ~all';
    assert.deepEqual(parseShared(record), parseRecord(record));
    assert.equal(parseShared(record), parseShared(record));
  });

  it('are read right however many there are, and however long', () => {
    for (let i = 0; i < 3000; i++) {
      const record = `v=spf1 include:h${i}.test -all`;
      const [include] = parseShared(record).mechanisms;
      assert.equal(include?.text, `include:h${i}.test`);
    }
    const long = `v=spf1 ${'ip4:192.0.2.1 '.repeat(100)}-all`;
    assert.deepEqual(parseShared(long), parseRecord(long));
    assert.notEqual(parseShared(long), parseShared(long));
  });
});
