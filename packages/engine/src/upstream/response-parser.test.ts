// Responses as bytes, in one piece and split anywhere.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/index.ts';
import { ProtocolError, ResponseParser } from './response-parser.ts';

for (const [what, text, expected] of casesOf<[string, string, unknown][]>('engine', 'responses'))
  it(`a response ${what} is parsed, however its bytes arrive`, () => {
    const bytes = Buffer.from(text);
    const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    for (const pieces of [...single.map((_, at) => [bytes.subarray(0, at), bytes.subarray(at)]), single]) {
      const parser = new ResponseParser();
      const read = () => Buffer.concat(pieces.map((each) => Buffer.from(parser.push(Buffer.from(each))))).toString();
      if (expected === 'invalid') assert.throws(read, ProtocolError);
      else assert.deepEqual([read(), parser.head?.status, parser.isEnded || parser.close(), parser.isKept], expected);
    }
  });
