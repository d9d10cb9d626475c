// docs/pitfalls.md: forty rows, each with a test that is there.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

const read = (file: string) => readFileSync(path.join(import.meta.dirname, '../..', file), 'utf8');
const rows = [...read('docs/pitfalls.md').matchAll(/^\| (\d+) \|(.*)\|(.*)\|$/gm)];
/** What one installation cannot see. */
const WITHOUT_TEST: ReadonlySet<number> = new Set([21]);

it('forty pitfalls are listed, and the tests that they name are there', () => {
  assert.deepEqual(
    rows.map(([, number]) => Number(number)),
    Array.from({ length: 40 }, (_, i) => i + 1),
  );
  for (const [, number, , test = ''] of rows) {
    const [, file, words] = /`([^`]+)`: `([^`]+)`/.exec(test) ?? [];
    if (WITHOUT_TEST.has(Number(number))) assert.equal(file, undefined);
    else
      assert.ok(
        file && words && read(file).includes(file.startsWith('tests/') ? `it('${words} ` : words),
        `${number}: ${test}`,
      );
  }
});
