import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { bytesOf } from '../test/fixture.ts';
import * as base from './base-encoding.ts';

const codecs = [
  { name: 'hex', encode: base.encodeHex, decode: base.decodeHex, foobar: '666f6f626172' },
  { name: 'base64', encode: base.encodeBase64, decode: base.decodeBase64, foobar: 'Zm9vYmFy' },
  { name: 'base64url', encode: base.encodeBase64Url, decode: base.decodeBase64Url, foobar: 'Zm9vYmFy' },
  { name: 'base32', encode: base.encodeBase32, decode: base.decodeBase32, foobar: 'mzxw6ytboi' },
];

const character = fc.string({ minLength: 1, maxLength: 1 });

for (const { name, encode, decode, foobar } of codecs) {
  it(`${name} writes the vector of RFC 4648`, () => assert.equal(encode(bytesOf('foobar')), foobar));

  it(`${name} reads back what it writes, and refuses every other spelling`, () =>
    holds(100, [fc.uint8Array({ maxLength: 70 }), fc.nat(), character], (bytes, at, other) => {
      const text = encode(bytes);
      assert.deepEqual(decode(text), bytes);
      const altered = [...text].toSpliced(at % (text.length + 1), 1, other).join('');
      const decoded = decode(altered);
      if (altered !== text && decoded) assert.notDeepEqual(decoded, bytes);
      if (decoded) assert.equal(encode(decoded), altered);
    }));
}

it('base64 agrees with Node for any bytes', () =>
  holds(100, [fc.uint8Array()], (bytes) =>
    assert.equal(base.encodeBase64(bytes), Buffer.from(bytes).toString('base64')),
  ));

it('base64 refuses missing padding, white space and stray bits', () => {
  for (const text of ['Zg', 'Zg=', 'Zh==', 'Zm9=', ' Zg==', 'Zg==\n', '=', '====', 'Zg===', 'Zm9v=', 'Z==='])
    assert.equal(base.decodeBase64(text), undefined, text);
});
