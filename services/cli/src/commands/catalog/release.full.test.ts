// `strata catalog release` and `update`, as a signer and an operator run them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { temporaryDirectory } from '../../../../../tests/support/temporary-directory.ts';
import { assertEnds } from '../../test/run-strata.ts';

it('strata catalog release signs with all given keys, and update stores what one of them signed, once', async () => {
  await using folder = await temporaryDirectory();
  const at = (name: string) => `${folder.path}/${name}`;
  const release = `catalog release ${at('c.txt')} --name catalog.example --keys ${at('old')}`;
  const keysOf = async (args: string) =>
    (await assertEnds(args, 0, /^$/)).stdout.split('verifier keys:\n')[1]?.split('\n');
  const [alone] = (await keysOf(release)) ?? [];
  const [old, fresh] = (await keysOf(`${release} ${at('new')}`)) ?? [];
  assert.equal(old, alone);
  for (const [args, code, words] of [
    [` ${at('c.txt')} --key ${fresh} --check`, 0, / is valid: \d{4} providers$/],
    [` ${at('c.txt')} --key ${old}`, 0, / is stored: \d{4} providers$/],
    [` ${at('c.txt')} --key ${fresh}`, 0, / is stored already$/],
    [' --bundled', 0, /^the catalog of the program is used/],
    [
      ` ${at('new')}/signing-keys.json --key ${old}`,
      1,
      /^strata: the release is refused: it is not a catalog release$/,
    ],
    [` http://127.0.0.1:1/ --key ${old}`, 1, /refused: it cannot be fetched: ECONNREFUSED$/],
    [` ${at('c.txt')}`, 2, /give the key that signs/],
    [` ${at('c.txt')} --key x`, 2, /'x' is not a verifier key/],
    ['', 2, /give a URL or a file/],
  ] as const) {
    const { stdout, stderr } = await assertEnds(`catalog update${args}`, code, /^/, {
      env: { STRATA_DATA: at('data') },
    });
    assert.match((stdout + stderr).trim(), words);
  }
});
