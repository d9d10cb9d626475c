// docs/verify-by-hand.sh verifies the vectors, and fails for altered ones.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
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

  for (const [what, alter] of Object.entries({
    'an altered answer': { file: 'answer.json', from: 'Cloudflare', to: 'cloudflare' },
    'another leaf': { file: 'ledger.json', from: 'eyJjb250', to: 'eyJjb251' },
    'an altered proof': { file: 'ledger.json', from: 'gxFf', to: 'gxGf' },
    'another tree size': { file: 'ledger.json', from: '"tree_size": 7', to: '"tree_size": 6' },
    'an altered checkpoint': { file: 'ledger.json', from: '/ledger\\n7\\n', to: '/ledger\\n8\\n' },
    'another ledger': { file: 'keys.json', from: '"origin": "strata', to: '"origin": "strato' },
  })) {
    it(`fails for ${what}`, () => assert.ok(!passes(alter)));
  }
});
