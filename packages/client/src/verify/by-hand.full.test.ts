// docs/verify-by-hand.sh verifies the vectors, and fails for altered ones.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { vector } from '../test/service.ts';

const missing = ['bash', 'jq', 'openssl', 'base32', 'od'].filter((tool) => spawnSync(tool, ['--version']).error);
const skip = missing.length > 0 ? `not installed: ${missing.join(', ')}` : false;

const script = fileURLToPath(new URL('../../../../docs/verify-by-hand.sh', import.meta.url));

/** Runs the commands over the vectors with one replacement made in one of the files; true when all succeed. */
function passes(alter: { file?: string; from?: string; to?: string } = {}): boolean {
  const directory = mkdtempSync(path.join(tmpdir(), 'strata-by-hand-'));
  try {
    const files = { 'answer.json': 'answer.json', 'keys.json': 'key-set.json', 'ledger.json': 'ledger-receipt.json' };
    for (const [name, source] of Object.entries(files)) {
      const text = vector(source);
      const altered = name === alter.file ? text.replace(alter.from ?? '', alter.to ?? '') : text;
      if (name === alter.file) assert.notEqual(altered, text);
      writeFileSync(path.join(directory, name), altered);
    }
    return spawnSync('bash', [script], { cwd: directory }).status === 0;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe('verifying by hand', { skip }, () => {
  it('succeeds for a good answer', () => assert.ok(passes()));

  for (const [what, alter] of Object.entries(
    casesOf<Record<string, { file: string; from: string; to: string }>>('client', 'altered by hand'),
  )) {
    it(`fails for ${what}`, () => assert.ok(!passes(alter)));
  }
});
