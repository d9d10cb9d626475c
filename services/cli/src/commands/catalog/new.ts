// `strata catalog new`: adds an entry to the file of the catalog that it belongs to.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { entries, fileOf } from '@strata/catalog';
import {
  CatalogError,
  compileRulebook,
  exampleProblems,
  loadCatalog,
  type Provider,
  patternProblems,
  patternsOf,
  recordOf,
  slugOf,
} from '@strata/detect';
import type { CommandContext } from '../../context.ts';
import { usageError } from '../../errors.ts';

export interface NewOptions {
  readonly website: string;
  readonly category: string;
  readonly role?: string;
  readonly kind: readonly string[];
  readonly pattern: readonly string[];
  readonly source?: string;
}

/** Nothing is written if the catalog would not be valid with the entry, or a pattern alone does not show the provider. */
export function newProvider(
  { stdout }: Pick<CommandContext, 'stdout'>,
  name: string,
  { website, category, role, kind, pattern, source }: NewOptions,
): void {
  if (pattern.length === 0) throw usageError('--pattern is missing: what does a customer publish?');
  if (source === undefined)
    throw usageError('--source is missing: which document of the vendor has the patterns? strata catalog new --help');
  if (kind.length === 0) throw usageError('--kind is missing: what kind of product is it?');
  const id = slugOf(name);
  const rulebook = compileRulebook(loadCatalog(entries));
  const existing = rulebook.findProvider(name) ?? rulebook.findProvider(id);
  if (existing) {
    const file = path.relative('', fileOf(existing.id));
    throw usageError(
      `${existing.name} (${existing.id}) is in ${file}: add a group to its rules there, then strata catalog test ${existing.id}`,
    );
  }
  const group = {
    category,
    ...(role && { role }),
    ...groupOf(pattern),
    source,
    verified_at: new Date().toISOString().slice(0, 10),
  };
  const entry = (more: object) => ({ id, name, website, kinds: kind, rules: [{ ...group, ...more }] });
  const catalog = checked(entry({}));
  const added = catalog.slice(-1);
  const withEntry = compileRulebook(catalog);
  const problems = patternProblems(added, withEntry);
  if (problems.length > 0) throw usageError(problems.join('\n'));
  const records = added.flatMap(({ rules }) => rules.flatMap((rule) => patternsOf(rule).map(recordOf)));
  const problemsOf = (examples: readonly object[]) =>
    exampleProblems(checked(entry({ examples })).slice(-1), withEntry);
  const own = records.filter((record) => problemsOf([record]).length === 0);
  // A policy or a token shows another category; with the first record that shows this one it is a domain as customers have.
  const examples = records.map((record) => (own.includes(record) ? record : { ...own[0], ...record }));
  const missing = problemsOf(examples);
  if (missing.length > 0)
    throw usageError(`${missing.join('\n')}\nadd a pattern that shows ${category} alone, or choose another --category`);
  const file = fileOf(id);
  writeFileSync(file, insert(readFileSync(file, 'utf8'), entry({ examples })));
  stdout.write(`${path.relative('', file)}: added ${id}, without counterexamples: add records that must not show it\n`);
}

/** The catalog with the entry. */
function checked(entry: object): readonly Provider[] {
  try {
    return loadCatalog([...entries, entry]);
  } catch (error) {
    if (error instanceof CatalogError) throw usageError(error.problems.join('\n'));
    throw error;
  }
}

/** `mx=a.example` and so on as the fields of a group. */
function groupOf(patterns: readonly string[]): object {
  const pairs = patterns.map((text) => {
    const [, field = '', value = ''] = /^([a-zA-Z]+)=(.+)$/s.exec(text) ?? [];
    if (value === '') throw usageError(`--pattern ${text}: write FIELD=VALUE, such as mx=example.net`);
    return { field, value };
  });
  const isPage = (field: string) => ['generator', 'asset', 'marker'].includes(field);
  const html = pairs.filter(({ field }) => isPage(field));
  return {
    ...fieldsOf(pairs.filter(({ field }) => !isPage(field))),
    ...(html.length === 0 ? {} : { html: fieldsOf(html) }),
  };
}

function fieldsOf(pairs: readonly { readonly field: string; readonly value: string }[]): object {
  const fields = Map.groupBy(pairs, ({ field }) => field);
  return Object.fromEntries(
    [...fields].map(([field, all]) => [field, all.map(({ value }) => readPattern(field, value))]),
  );
}

function readPattern(field: string, value: string): unknown {
  if (/^(?:asn|mailAsn|nsAsn)$/.test(field)) return Number(value.replace(/^AS/i, ''));
  const [first = '', rest] = split(value, field === 'named' ? '=' : ': ');
  if (field === 'named') return { label: first, target: rest };
  if (field === 'header') return rest === undefined ? { name: first } : { name: first, value: rest };
  return value;
}

function split(text: string, separator: string): readonly [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** The file with the entry in the order of the ids; other entries keep their lines. */
function insert(file: string, entry: { readonly id: string }): string {
  // As the formatter writes it: short lists on a line.
  const text = JSON.stringify(entry, null, 2)
    .replace(/^/gm, '    ')
    .replace(
      /\[\s+("[^"]*"(?:,\s+"[^"]*")*|\d+(?:,\s+\d+)*)\s+\]/g,
      (_, list: string) => `[${list.replace(/\n\s+/g, ' ')}]`,
    );
  const next = [...file.matchAll(/^ {4}\{\n {6}"id": "([^"]+)"/gm)].find(([, id = '']) => id > entry.id);
  if (next) return `${file.slice(0, next.index)}${text},\n${file.slice(next.index)}`;
  return file.replace(/\n {2}\]\n\}\n$/, () => `,\n${text}\n  ]\n}\n`);
}
