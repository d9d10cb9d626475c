// `strata catalog lint`, `test` and `explain`: the catalog as it is in this folder. No network.
import { entries, misplaced } from '@strata/catalog';
import {
  CatalogError,
  compileRulebook,
  exampleProblems,
  loadCatalog,
  type Provider,
  patternProblems,
  patternsOf,
} from '@strata/detect';
import type { CommandContext, OutputStream } from '../../context.ts';
import { CommandError, usageError } from '../../errors.ts';
import { counted, printTable } from '../../output.ts';

type Context = Pick<CommandContext, 'stdout'>;

/** Checks the schema, the order of the files, and that ids, names and patterns are unique; of named entries, that they are complete. */
export function lint({ stdout }: Context, ids: readonly string[]): void {
  const problems = [...misplaced()];
  try {
    const providers = loadCatalog(entries);
    if (ids.length === 0) printCounts(stdout, providers);
    else problems.push(...select(providers, ids).flatMap(missingOf));
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    problems.push(...error.problems);
  }
  report(problems);
  if (ids.length > 0) stdout.write(`checked ${counted(ids.length, 'provider')}\n`);
}

/** Runs detection on the examples, and on each pattern alone. */
export function test({ stdout }: Context, ids: readonly string[]): void {
  const providers = loadCatalog(entries);
  const selected = select(providers, ids);
  const rulebook = compileRulebook(providers);
  const problems = [...patternProblems(selected, rulebook), ...exampleProblems(selected, rulebook)];
  stdout.write(`tested ${counted(selected.length, 'provider')}\n`);
  report(problems);
}

/** Prints an entry: one row for each pattern. */
export function explainProvider({ stdout }: Context, name: string): void {
  const rulebook = compileRulebook(loadCatalog(entries));
  const provider = rulebook.findProvider(name);
  if (!provider) throw usageError(`the catalog has no provider '${name}'`);
  const { id, website, owner, kinds, rules } = provider;
  stdout.write(
    `${provider.name} (${id})${owner === undefined ? '' : `, of ${owner}`}: ${kinds.join(', ')}; ${website}\n\n`,
  );
  const rows = rules.flatMap((group) =>
    patternsOf(group).map(({ channel, pattern }) => {
      const { category, source = 'no source', verified_at = '' } = group;
      return [category, rulebook.roleOf(category, id) ?? '', channel, pattern, source, verified_at];
    }),
  );
  printTable(stdout, ['category', 'role', 'evidence', 'pattern', 'source', 'verified'], rows);
}

function select(providers: readonly Provider[], ids: readonly string[]): readonly Provider[] {
  const unknown = ids.find((id) => providers.every((provider) => provider.id !== id));
  if (unknown !== undefined) throw usageError(`the catalog has no provider with the id '${unknown}'`);
  return ids.length === 0 ? providers : providers.filter(({ id }) => ids.includes(id));
}

function missingOf({ id, kinds, rules }: Provider): readonly string[] {
  const parts = rules.flatMap(({ source, examples }, group) => [
    ...(source === undefined ? [`${id} rules.${group}: no source`] : []),
    ...(examples === undefined ? [`${id} rules.${group}: no examples`] : []),
  ]);
  return kinds.length > 0 ? parts : [`${id}: no kinds`, ...parts];
}

function printCounts(stdout: OutputStream, providers: readonly Provider[]): void {
  const groups = providers.flatMap(({ rules }) => rules);
  const patterns = (of: typeof groups) => String(of.flatMap((group) => patternsOf(group)).length);
  printTable(
    stdout,
    ['item', 'count'],
    [
      ['providers', String(providers.length)],
      ['patterns', patterns(groups)],
      ['patterns with a source', patterns(groups.filter(({ source }) => source !== undefined))],
      ['examples', String(groups.flatMap(({ examples = [] }) => examples).length)],
      ['counterexamples', String(groups.flatMap(({ counterexamples = [] }) => counterexamples).length)],
    ],
  );
}

function report(problems: readonly string[]): void {
  if (problems.length > 0) throw new CommandError(`${counted(problems.length, 'problem')}\n${problems.join('\n')}`);
}
