// `npm run house`: the size and the order of the code by package, and what the project does not allow.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { filesInCircles, isTestCode } from './imports.ts';

/** Source files that one folder holds at most, tests aside. */
const MAX_LOOSE_FILES = 12;
const MAX_METHODS = 9;
const METHOD_OF_CLASS = /^ {2}(?:(?:static|async) )*\*?(?!constructor\b)\w+(?:<.*>)?\(/gm;
const METHOD_OF_INTERFACE = /^ {2}(?:readonly )?\w+\??(?:[<(]|: (?:<.+>)?\(.*\) =>)/gm;
const SOURCE = /\.(?:ts|tsx|css|html|sh)$/;
const GENERATED = /^[^\n]*Do not edit/;

const root = path.join(import.meta.dirname, '../..');

interface SourceFile {
  readonly file: string;
  readonly text: string;
  readonly lines: number;
}

/** Every source file of the working tree that git does not ignore and no tool generates. */
function sources(): SourceFile[] {
  const asked = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const names = new Set(execFileSync('git', asked, { cwd: root, encoding: 'utf8' }).split('\n'));
  return [...names]
    .filter((file) => SOURCE.test(file) && existsSync(path.join(root, file)))
    .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }))
    .filter(({ text }) => !GENERATED.test(text))
    .map(({ file, text }) => ({ file, text, lines: text.split('\n').length - 1 }));
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): [string, Item[]][] {
  return Object.entries(Object.groupBy(items, keyOf)).map(([key, group]) => [key, group ?? []]);
}

/** `packages/scan`, `services/stack`, `web` … of a file. */
const packageOf = (file: string) =>
  file
    .split('/')
    .slice(0, /^(?:packages|services)\//.test(file) ? 2 : 1)
    .join('/');

export const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

/** The value below which this share of sorted numbers lies. */
const quantile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

const all = sources();
/** Tests and their helpers: what counts as lines of tests, in the report and for the cap. */
export const tests = all.filter(({ file }) => isTestCode(file));
const code = all.filter(({ file }) => !isTestCode(file));

function rowOf(name: string, files: readonly SourceFile[]) {
  const sorted = files.map(({ lines }) => lines).sort((a, b) => a - b);
  const mine = tests.filter(({ file }) => packageOf(file) === name);
  return {
    files: files.length,
    lines: sum(sorted),
    median: quantile(sorted, 0.5),
    p90: quantile(sorted, 0.9),
    max: sorted.at(-1) ?? 0,
    'lines of tests': sum(mine.map(({ lines }) => lines)),
    'circular imports': filesInCircles(
      root,
      files.map(({ file }) => file).filter((file) => /\.tsx?$/.test(file)),
    ).length,
  };
}

/** Folders with too many files, the fullest first. */
export const fullFolders = () =>
  grouped(code, ({ file }) => path.dirname(file))
    .map(([folder, files]) => ({ folder, files: files.length }))
    .filter(({ files }) => files > MAX_LOOSE_FILES)
    .sort((a, b) => b.files - a.files);

/** Interfaces, and classes by their public methods, with more than nine, which hide several concerns. */
export const wideTypes = () =>
  code.flatMap(({ file, text }) =>
    [...text.matchAll(/^(?:export )?(?:abstract )?(interface|class) (\w+)[^{]*\{\n([\s\S]*?)^\}/gm)].flatMap(
      ([, kind, name, body = '']) => {
        const methods = body.match(kind === 'class' ? METHOD_OF_CLASS : METHOD_OF_INTERFACE)?.length ?? 0;
        return methods > MAX_METHODS ? [{ kind, name, file, methods }] : [];
      },
    ),
  );

/** The settings of all services, from the generated page. */
export function settings(): number {
  const [current = ''] = readFileSync(path.join(root, 'docs/settings.md'), 'utf8').split('## Former settings');
  return current.match(/^\| `STRATA_/gm)?.length ?? 0;
}

/** What `npm ci` has written to disk; undefined without `node_modules`. */
function installedMiB(): number | undefined {
  const modules = path.join(root, 'node_modules');
  if (!existsSync(modules)) return undefined;
  return Number.parseInt(execFileSync('du', ['-sm', modules], { encoding: 'utf8' }), 10);
}

function report(): void {
  const packages = grouped(code, ({ file }) => packageOf(file)).sort(([a], [b]) => a.localeCompare(b));
  console.table(Object.fromEntries(packages.map(([name, files]) => [name, rowOf(name, files)])));
  const lengths = code.map(({ lines }) => lines).sort((a, b) => a - b);
  console.log(`source: ${sum(lengths)} lines in ${code.length} files, median ${quantile(lengths, 0.5)}, `);
  console.log(`  p90 ${quantile(lengths, 0.9)}, max ${lengths.at(-1)}`);
  console.log(`tests and their helpers: ${sum(tests.map(({ lines }) => lines))} lines in ${tests.length} files`);
  const full = fullFolders();
  console.log(`folders with more than ${MAX_LOOSE_FILES} source files: ${full.length}`);
  for (const { folder, files } of full) console.log(`  ${files} ${folder}`);
  const wide = wideTypes();
  console.log(`interfaces and classes with more than ${MAX_METHODS} methods: ${wide.length}`);
  for (const { kind, name, file, methods } of wide) console.log(`  ${methods} ${kind} ${name} (${file})`);
  console.log(`settings: ${settings()}; installed: ${installedMiB() ?? '?'} MiB`);
}

if (import.meta.main) report();
