// A process of each command starts, and ends with its exit code.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { temporaryDirectory } from '../../../tests/support/temporary-directory.ts';
import { spawnStrata } from './test/run-strata.ts';

for (const [args, code, words] of [
  ['stack explain', 1, /could not be read/],
  ['stack fingerprints /nowhere/none', 1, /^strata: cannot read the fingerprints .*none: it does not exist/],
  ['stack verify /nowhere', 2, /does not exist/],
  ['stack scan missing.txt', 2, /does not exist/],
  ['stack keys list', 1, /database .* does not exist/],
  ['stack feeds add nonsense', 2, /this is not a URL/],
  ['config check', 0, /^$/],
  ['mcp --base nowhere', 2, /--base is the URL/],
  ['inference chat hi --model x', 2, /no API key/],
  ['inference gateway --model /nowhere.gguf', 1, /cannot be loaded/],
  ['inference worker', 2, /no model: set --model/],
  // These tests connect to loopback only.
  ['inference network --base http://192.0.2.1', 1, /^strata: no response from http:\/\/192\.0\.2\.1\/network/],
] as const)
  it(`strata starts as a process: ${args}`, async () => {
    await using data = await temporaryDirectory();
    const env = { STRATA_DATA: data.path, STRATA_LOG_LEVEL: 'silent' };
    const outcome = await spawnStrata(args, { env, input: 'nonsense\n' });
    assert.equal(outcome.code, code, outcome.stderr);
    assert.match(outcome.stderr, words);
  });
