// Parsing of checkpoints for the status page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { readCheckpoint } from './checkpoint.ts';

const ROOT = '2w30CDteGEZ6oQdXDzVF3/3OkUTqc9lw73znwqoJewM=';

test('a checkpoint is parsed with all its signers', () => {
  const text = `localhost/strata/stack\n301\n${ROOT}\n\n— localhost/strata/stack uy092U2w5ES=\n— witness.example/w AAAA\n`;
  const origin = 'localhost/strata/stack';
  const expected = { origin, size: '301', root: ROOT, signers: [origin, 'witness.example/w'] };
  assert.deepEqual(readCheckpoint(text), expected);
});

test('invalid checkpoints are rejected', () => {
  for (const text of casesOf<string[]>('web', 'invalid checkpoints'))
    assert.equal(readCheckpoint(text), undefined, JSON.stringify(text));
});
