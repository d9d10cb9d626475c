// The commands for the catalog as it is here; tests/full/recipes.test.ts adds an entry to a copy.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { entries } from '@strata/catalog';
import { loadCatalog } from '@strata/detect';
import { casesOf, temporaryDirectory } from '../../../../../tests/support/index.ts';
import { assertEnds } from '../../test/run-strata.ts';

it('strata catalog lint counts what the catalog has, and names what an entry lacks', async () => {
  const { stdout } = await assertEnds('catalog lint', 0, /^$/);
  assert.match(stdout, /providers +\d{4,} *\npatterns +\d{4,} *\npatterns with a source +\d/);
  const { id = '' } = loadCatalog(entries).find(({ rules: [first] }) => !first?.source && !first?.examples) ?? {};
  await assertEnds(`catalog lint ${id}`, 1, new RegExp(`${id} rules\\.0: no source\n${id} rules\\.0: no examples`));
  await assertEnds('catalog lint no-such', 2, /no provider with the id 'no-such'/);
});

it('strata catalog test runs the patterns of the named providers', async () => {
  assert.equal((await assertEnds('catalog test fastmail zoho-mail', 0, /^$/)).stdout, 'tested 2 providers\n');
});

it('strata catalog explain prints each pattern, by any name of the provider', async () => {
  const { stdout } = await assertEnds(['catalog', 'explain', 'G Suite'], 0, /^$/);
  assert.match(
    stdout,
    /^Google Workspace \(google-workspace\), of Google: mailbox.+https:.+\n\ncategory +role +evidence +pattern/,
  );
  assert.match(stdout, /\nemail +mailbox +mx +\S+google\.com/);
  await assertEnds('catalog explain no-such', 2, /has no provider 'no-such'/);
});

it('strata catalog import prints what published patterns would add, and what the catalog reads as another provider', async () => {
  await using folder = await temporaryDirectory();
  const at = (name: string) => path.join(folder.path, name);
  const [facts, set, expected] = casesOf<[object[], object, string[]]>('cli', 'imported patterns');
  facts.push({ provider: 'Some Mail', field: 'mx', value: `${'a.'.repeat(600)}example` });
  await writeFile(at('facts.ndjson'), facts.map((fact) => JSON.stringify(fact)).join('\n'));
  await writeFile(at('set.json'), JSON.stringify(set));
  const { stdout } = await assertEnds(['catalog', 'import', at('facts.ndjson'), at('set.json')], 0, /^$/);
  const lines = stdout.split('\n');
  for (const line of expected) assert.ok(lines.includes(line), `${line} is not in\n${stdout}`);
  await writeFile(at('bad.ndjson'), '\n{"provider": "x", "field": "mx"}\n');
  await assertEnds(['catalog', 'import', at('bad.ndjson')], 2, /bad\.ndjson, line 2: value: /);
  await assertEnds(['catalog', 'import', at('none.ndjson')], 2, /does not exist/);
});

for (const [what, args, words] of casesOf<[string, string[], string][]>('cli', 'refused providers'))
  it(`strata catalog new refuses ${what}, and writes nothing`, () =>
    assertEnds(args, 2, new RegExp(words)).then(() => {}));
