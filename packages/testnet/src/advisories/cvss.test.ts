import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cvssOf } from './cvss.ts';

describe('a base score', () => {
  it('is what the vector comes to', () => {
    const scores: [string, number][] = [
      ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', 9.8],
      ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', 10],
      ['CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N', 6.1],
      ['CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:H/A:H', 7.7],
      ['CVSS:3.1/AV:L/AC:H/PR:L/UI:N/S:U/C:N/I:N/A:H', 4.7],
      ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N', 0],
    ];
    for (const [vector, score] of scores) assert.equal(cvssOf(vector).score, score, vector);
    assert.throws(() => cvssOf('AV:N/AC:L'), RangeError);
  });
});
