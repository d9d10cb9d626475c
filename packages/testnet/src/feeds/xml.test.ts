import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cdata, dateTime, encode, escapeXml, rfc822 } from './xml.ts';

const TEXT = 'Crème brûlée for €3 – it’s “so” <good>…';

describe('text as feeds carry it', () => {
  it('is escaped, and sections are split where they would end', () => {
    assert.equal(escapeXml('a & b < "c"'), 'a &amp; b &lt; &#34;c&#34;');
    assert.equal(cdata('a[b[0]]>1'), '<![CDATA[a[b[0]]]]><![CDATA[>1]]>');
  });

  it('is the same again when read in the encoding that it was written in', () => {
    for (const charset of ['utf-8', 'windows-1252', 'utf-16le', 'utf-16be'] as const) {
      assert.equal(new TextDecoder(charset, { fatal: true }).decode(encode(TEXT, charset)), TEXT, charset);
    }
    assert.throws(() => encode('日本', 'windows-1252'), RangeError);
  });

  it('has dates of one moment in Greenwich or two hours east of it', () => {
    const at = Date.parse('2026-03-10T23:20:05Z');
    assert.equal(rfc822(at, 'utc'), 'Tue, 10 Mar 2026 23:20:05 GMT');
    assert.equal(rfc822(at, 'east'), 'Wed, 11 Mar 2026 01:20:05 +0200');
    assert.equal(dateTime(at, 'utc'), '2026-03-10T23:20:05Z');
    assert.equal(dateTime(at, 'east'), '2026-03-11T01:20:05+02:00');
  });
});
