// Checkpoints as the status page reads them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCheckpoint } from './checkpoint.ts';

const ROOT = '2w30CDteGEZ6oQdXDzVF3/3OkUTqc9lw73znwqoJewM=';

test('a checkpoint is read with all who signed it', () => {
  const text = `localhost/strata/stack\n301\n${ROOT}\n\n— localhost/strata/stack uy092U2w5ES=\n— witness.example/w AAAA\n`;
  const origin = 'localhost/strata/stack';
  const expected = { origin, size: '301', root: ROOT, signers: [origin, 'witness.example/w'] };
  assert.deepEqual(readCheckpoint(text), expected);
});

test('what is no checkpoint is not taken for one', () => {
  for (const text of [
    '',
    'not found',
    `o\n301\n${ROOT}\n`,
    `o\n301\n${ROOT}\n\n`,
    `o\n-1\n${ROOT}\n\n— o AAAA\n`,
    'o\n301\nAAAA\n\n— o AAAA\n',
    `\n301\n${ROOT}\n\n— o AAAA\n`,
  ])
    assert.equal(readCheckpoint(text), undefined, JSON.stringify(text));
});
