// `strata catalog release` and `update`, as a signer and an operator run them.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { it } from 'node:test';
import { casesOf, temporaryDirectory } from '../../../../../tests/support/index.ts';
import { assertEnds } from '../../test/run-strata.ts';

type Update = readonly [args: string, code: number, words: string, isStoreOpened?: boolean];

it('strata catalog release signs with all given keys, and update stores what one of them signed, once', async () => {
  await using folder = await temporaryDirectory();
  const at = (name: string) => `${folder.path}/${name}`;
  const release = `catalog release ${at('c.txt')} --name catalog.example --keys ${at('old')}`;
  const keysOf = async (args: string) =>
    (await assertEnds(args, 0, /^$/)).stdout.split('verifier keys:\n')[1]?.split('\n');
  const [alone] = (await keysOf(release)) ?? [];
  const [old, fresh] = (await keysOf(`${release} ${at('new')}`)) ?? [];
  assert.equal(old, alone);
  const env = { STRATA_DATA: at('data') };
  for (const [args, code, words, isStoreOpened = true] of casesOf<Update[]>('cli', 'catalog updates')) {
    const given = args.replace(/OLD|NEW/, (key) => (key === 'OLD' ? old : fresh) ?? '').replace('DIR', folder.path);
    const { stdout, stderr } = await assertEnds(`catalog update ${given}`.trim(), code, /^/, { env });
    assert.match((stdout + stderr).trim(), new RegExp(words));
    assert.equal(existsSync(at('data')), isStoreOpened, args);
  }
});
