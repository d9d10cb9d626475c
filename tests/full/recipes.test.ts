// The recipes of CONTRIBUTING.md, each followed once in a copy of the sources: the files that it names exist, and the change works.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const root = path.join(import.meta.dirname, '../..');
const guide = readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8');

/** Runs in the copy: starts the service with the route, page, metric and migration that the recipes added. */
const FOLLOW = `
import { DatabaseSync } from 'node:sqlite';
import { smallInternet, startHarness } from './services/stack/src/test/harness.ts';
const internet = await smallInternet();
const service = await startHarness({ internet, settings: { STRATA_DATA: 'data' } });
const { status, body } = await service.get('/stack/v1/recipe');
const page = (await service.ask('/recipe')).status;
const metrics = await (await fetch('http://127.0.0.1:' + service.running.metricsPort + '/metrics')).text();
await service[Symbol.asyncDispose]();
await internet[Symbol.asyncDispose]();
const tables = new DatabaseSync('data/strata.db').prepare("select name from sqlite_master where name = 'recipe_rows'").all();
console.log(JSON.stringify({ status, body, page, metric: /^strata_recipe 7$/m.test(metrics), tables: tables.length }));
`;

const ROUTE = `
import { route } from '@strata/http';
import { z } from 'zod';
export const getRecipe = route(
  {
    ...{ method: 'GET', path: '/stack/v1/recipe', tag: 'Statistics', summary: 'A recipe', description: 'A recipe.' },
    output: { kind: 'signed', schema: z.object({ recipe: z.string() }) },
    ...{ errors: [], access: 'key', cache: () => undefined },
  },
  () => ({ recipe: 'followed' }),
);
`;

const MIGRATION = `
import { type Kysely, sql } from 'kysely';
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql\`create table recipe_rows (id integer primary key)\`.execute(db);
}
`;

const PROVIDER = {
  ...{ id: 'zz-recipe-mail', name: 'ZZ Recipe Mail', website: 'https://recipe-mail.example', kinds: ['mailbox'] },
  rules: [{ category: 'email', mx: ['recipe-mail.example'] }],
};

describe('a recipe', { timeout: 120_000 }, () => {
  let copy: AsyncDisposable & { readonly path: string };
  before(async () => {
    copy = await temporaryDirectory();
    for (const file of execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n'))
      if (!/^(?:docs\/screenshots|bench|vectors)\//.test(file) && existsSync(path.join(root, file)))
        cpSync(path.join(root, file), at(file), { recursive: true });
    mkdirSync(at('node_modules/@strata'), { recursive: true });
    const modules = path.join(root, 'node_modules');
    for (const name of readdirSync(modules))
      if (name !== '@strata') symlinkSync(path.join(modules, name), at(`node_modules/${name}`));
    for (const name of readdirSync(path.join(modules, '@strata')))
      symlinkSync(readlinkSync(path.join(modules, '@strata', name)), at(`node_modules/@strata/${name}`));
    symlinkSync(path.join(root, 'web/dist'), at('web/dist'));
  });
  after(() => copy?.[Symbol.asyncDispose]());

  const at = (file: string) => path.join(copy.path, file);
  const read = (file: string) => readFileSync(at(file), 'utf8');
  /** Replaces what `where` matches, once. */
  const edit = (file: string, where: RegExp, by: string) => {
    assert.match(read(file), where, file);
    writeFileSync(at(file), read(file).replace(where, by));
  };
  const run = (args: string, input = '') =>
    execFileSync(process.execPath, args.split(' '), { cwd: copy.path, encoding: 'utf8', input, stdio: 'pipe' });
  /** The path in the recipe that ends like this; fails unless the recipe names it. */
  const named = (recipe: string, end: string) => {
    const text = guide.split(`## ${recipe}\n`)[1]?.split('\n## ')[0] ?? '';
    const found = [...text.matchAll(/`([\w./-]+)`/g)].map(([, name = '']) => name).find((name) => name.endsWith(end));
    return found ?? assert.fail(`${recipe} names no ${end}`);
  };

  it('adds a provider, which is detected', () => {
    const folder = named('Add a provider', 'catalog/');
    const entries = JSON.parse(read(`${folder}email.json`)) as { id: string }[];
    const sorted = [...entries, PROVIDER].sort((a, b) => (a.id < b.id ? -1 : 1));
    writeFileSync(at(`${folder}email.json`), JSON.stringify(sorted));
    run('--test catalog/catalog.test.ts');
    const evidence = { domain: 'example.com', mx: [{ preference: 10, exchange: 'mx.recipe-mail.example' }] };
    assert.match(run('services/cli/src/main.ts stack explain', JSON.stringify(evidence)), /"ZZ Recipe Mail"/);
  });

  it('adds a route, a page, a metric and a migration, which the service has', () => {
    const routes = named('Add a route', '/routes/');
    writeFileSync(at(`${routes}recipe.ts`), ROUTE);
    edit(
      `${routes}index.ts`,
      /\n\nexport const routes.+\n/,
      `\nimport { getRecipe } from './recipe.ts';$&  getRecipe,\n`,
    );
    run('services/stack/src/write-openapi.ts');
    const { paths } = JSON.parse(read('openapi/stack.json')) as { paths: Readonly<Record<string, object>> };
    assert.ok(paths['/stack/v1/recipe']);

    const router = `${named('Add a page', 'web/src/explorer/')}${named('Add a page', 'router.tsx')}`;
    const pages = named('Add a page', 'pages.ts');
    edit(router, /const pages = \[\n/, `$&  page('/recipe', () => import('./home/start-page.tsx'), 'Start'),\n`);
    edit(pages, /'\/start',/, `$& '/recipe',`);
    const inRouter = [...read(router).matchAll(/ page\('([^']+)'/g)].map(([, name = '']) => name.replace('$', ':'));
    const served = /EXPLORER_ROUTES = \[([\s\S]+?)\n\];/.exec(read(pages))?.[1] ?? '';
    assert.deepEqual([...served.matchAll(/'([^']+)'/g)].map(([, name]) => name).sort(), inRouter.sort());

    const metric = "metrics.gauge('strata_recipe', 'A recipe', () => 7);\n  ";
    edit(named('Add a metric', 'stack-metrics.ts'), /metrics\.gauge\('strata_ledger_leaves'/, `${metric}$&`);

    const migration = named('Add a migration', 'NNN-name.ts');
    const index = path.join(path.dirname(migration), 'index.ts');
    const last = [...read(index).matchAll(/'(\d{3})-[\w-]+':/g)].at(-1)?.[1] ?? assert.fail(index);
    const name = `${String(Number(last) + 1).padStart(3, '0')}-recipe`;
    writeFileSync(at(migration.replace('NNN-name', name)), MIGRATION);
    edit(
      index,
      /(\n\nexport const migrations[\s\S]+?)\n\};/,
      `\nimport { up as recipe } from './${name}.ts';$1\n  '${name}': recipe,\n};`,
    );

    writeFileSync(at('follow.ts'), FOLLOW);
    const { body, ...outcome } = JSON.parse(run('follow.ts').trim().split('\n').at(-1) ?? '');
    assert.deepEqual(outcome, { status: 200, page: 200, metric: true, tables: 1 });
    assert.equal(body.recipe, 'followed');
  });
});
