// The recipes of CONTRIBUTING.md, each followed once in a copy of the sources: the files that it names exist, and the change works.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const root = path.join(import.meta.dirname, '../..');
const guide = readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8');

const PROVIDER = [
  ...['catalog', 'new', 'ZZ Recipe Mail', '--website', 'https://recipe-mail.example', '--category', 'email'],
  ...['--kind', 'mailbox', '--pattern', 'mx=recipe-mail.example', '--pattern', 'header=server: ZZ Mail'],
  ...['--source', 'https://docs.recipe-mail.example/dns'],
];
const ROUTE = `import { route } from '@strata/http';
import { z } from 'zod';
const output = { kind: 'signed', schema: z.object({ recipe: z.string() }) };
const facts = { tag: 'Statistics', summary: 'A recipe', errors: [], access: 'key', cache: () => undefined };
export const getRecipe = route({ method: 'GET', path: '/stack/v1/recipe', output, ...facts }, () => ({ recipe: 'done' }));
`;
const MIGRATION = `
export const recipe = (db) => sql\`create table recipe_rows (id integer primary key)\`.execute(db);
`;
/** Starts the changed service, and prints what it has. */
const FOLLOW = `import { DatabaseSync } from 'node:sqlite';
import { smallInternet, startHarness } from './services/stack/src/test/harness.ts';
await using internet = await smallInternet();
await using service = await startHarness({ internet, settings: { STRATA_DATA: 'data' } });
const { recipe } = (await service.get('/stack/v1/recipe')).body;
const page = (await service.ask('/recipe')).status;
const metrics = await (await fetch('http://127.0.0.1:' + service.running.metricsPort + '/metrics')).text();
const [rows] = new DatabaseSync('data/strata.db').prepare('select count(*) as n from recipe_rows').all();
console.log(JSON.stringify({ recipe, page, metric: /^strata_recipe 7$/m.test(metrics), rows: rows.n }));
`;

describe('a recipe', { timeout: 120_000 }, () => {
  let copy: AsyncDisposable & { readonly path: string };
  before(async () => {
    copy = await temporaryDirectory();
    const filter = (file: string) => !/\/(?:node_modules|\.git|bench|screenshots|vectors|dist)$/.test(file);
    cpSync(root, copy.path, { recursive: true, filter });
    mkdirSync(at('node_modules'));
    for (const name of [...readdirSync(path.join(root, 'node_modules')), '../web/dist'])
      if (name !== '@strata') symlinkSync(path.join(root, 'node_modules', name), at(`node_modules/${name}`));
    const own = 'node_modules/@strata';
    cpSync(path.join(root, own), at(own), { recursive: true, verbatimSymlinks: true });
  });
  after(() => copy?.[Symbol.asyncDispose]());

  const at = (file: string) => path.join(copy.path, file);
  const read = (file: string) => readFileSync(at(file), 'utf8');
  const edit = (file: string, where: RegExp, by: string) => {
    assert.match(read(file), where, file);
    writeFileSync(at(file), read(file).replace(where, by));
  };
  const run = (args: string | readonly string[], input = '') =>
    execFileSync(process.execPath, typeof args === 'string' ? args.split(' ') : args, {
      cwd: copy.path,
      encoding: 'utf8',
      input,
      stdio: 'pipe',
    });
  /** The path in the recipe that ends like this. */
  const named = (recipe: string, end: string) => {
    const text = guide.split(`## ${recipe}\n`)[1]?.split('\n## ')[0] ?? '';
    const names = [...text.matchAll(/`([\w./-]+)`/g)].map(([, name = '']) => name);
    return names.find((name) => name.endsWith(end)) ?? assert.fail(`${recipe} names no ${end}`);
  };

  it('adds a provider, which is detected', () => {
    const cli = 'services/cli/src/main.ts';
    assert.match(run([cli, ...PROVIDER]), /z\.json: added zz-recipe-mail/);
    assert.match(read(`${named('Add a provider', 'providers/')}z.json`), /"examples": \[\n +\{\n +"mx"/);
    for (const command of ['lint', 'test']) run([cli, 'catalog', command, 'zz-recipe-mail']);
    assert.match(run([cli, 'catalog', 'explain', 'zz recipe mail']), /mailbox +mx +recipe-mail\.example +https:/);
    const evidence = { domain: 'example.com', mx: [{ preference: 10, exchange: 'mx.recipe-mail.example' }] };
    assert.match(run([cli, 'stack', 'explain'], JSON.stringify(evidence)), /"ZZ Recipe Mail"/);
  });

  it('adds a route, a page, a metric and a migration, which the service has', () => {
    const routes = named('Add a route', '/routes/');
    writeFileSync(at(`${routes}recipe.ts`), ROUTE);
    const list = /\n\nexport const routes.+\n/;
    edit(`${routes}index.ts`, list, `\nimport { getRecipe } from './recipe.ts';$&  getRecipe,\n`);
    run('services/stack/src/write-openapi.ts');
    assert.match(read('openapi/stack.json'), /"\/stack\/v1\/recipe": /);

    const [router, pages] = [named('Add a page', 'explorer/') + named('Add a page', 'router.tsx'), `${routes}pages.ts`];
    edit(router, /const pages = \[\n/, `$&  page('/recipe', () => import('./home/start-page.tsx'), 'Start'),\n`);
    edit(named('Add a page', 'pages.ts'), /'\/start',/, `$& '/recipe',`);
    const inRouter = [...read(router).matchAll(/ page\('([^']+)'/g)].map(([, name = '']) => name.replace('$', ':'));
    const served = /EXPLORER_ROUTES = \[([\s\S]+?)\n\];/.exec(read(pages))?.[1] ?? '';
    assert.deepEqual([...served.matchAll(/'([^']+)'/g)].map(([, name]) => name).sort(), inRouter.sort());

    const gauge = "metrics.gauge('strata_recipe', 'A recipe', () => 7);\n  $&";
    edit(named('Add a metric', 'stack-metrics.ts'), /metrics\.gauge\('strata_ledger_leaves'/, gauge);

    const migration = named('Add a migration', 'domains.ts');
    edit(migration, /$/, MIGRATION);
    const migrations = path.join(path.dirname(migration), 'index.ts');
    edit(migrations, /domainTimes, /, '$&recipe, ');
    edit(migrations, /\n\};\n$/, `\n  '900-recipe': recipe,$&`);

    writeFileSync(at('follow.ts'), FOLLOW);
    const outcome = JSON.parse(run('follow.ts').trim().split('\n').at(-1) ?? '');
    assert.deepEqual(outcome, { recipe: 'done', page: 200, metric: true, rows: 0 });
  });
});
