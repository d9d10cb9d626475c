// `strata catalog import`: published patterns as suggestions for the catalog. Writes nothing.
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { entries, fileOf } from '@strata/catalog';
import {
  compileRulebook,
  type Fact,
  factsOf,
  loadCatalog,
  type Suggestion,
  slugOf,
  suggestionsOf,
} from '@strata/detect';
import { loadFingerprints } from '@strata/stack';
import { z } from 'zod';
import type { CommandContext, OutputStream } from '../../context.ts';
import { fileError, usageError } from '../../errors.ts';
import { counted, type OutputOptions, plainText, printJson } from '../../output.ts';

const MAX_FILE_BYTES = 64 * 1024 * 1024;
const FactLine = z.strictObject({
  provider: z.string().min(1).max(64),
  website: z.string().max(256).optional(),
  field: z.string().max(32),
  value: z.union([z.string(), z.number(), z.record(z.string(), z.string())]),
  source: z.url().max(512).optional(),
});

/** Reads files of facts (`.ndjson`) and fingerprint sets, and prints the patterns that the catalog lacks as a difference. */
export async function importPatterns(
  { stdout }: Pick<CommandContext, 'stdout'>,
  paths: readonly string[],
  { json }: OutputOptions,
): Promise<void> {
  const catalog = loadCatalog(entries);
  const lists = paths.filter((each) => each.endsWith('.ndjson'));
  const sets = paths.filter((each) => !each.endsWith('.ndjson'));
  const listed = await Promise.all(lists.map(readFacts));
  const ofSets = sets.length === 0 ? { facts: [], skipped: 0 } : factsOf((await loadFingerprints(sets)).set, catalog);
  const suggestions = suggestionsOf([...listed.flat(), ...ofSets.facts], compileRulebook(catalog));
  if (json) return printJson(stdout, { suggestions, skipped: ofSets.skipped });
  printDifference(
    stdout,
    suggestions.filter(({ state }) => state !== 'known'),
  );
  const counts = Map.groupBy(suggestions, ({ state }) => state);
  const count = (state: Suggestion['state']) => counts.get(state)?.length ?? 0;
  stdout.write(
    `${counted(count('new'), 'suggestion')}; ${count('known')} known, ${count('conflict')} that show another provider, ` +
      `${count('invalid')} invalid, ${ofSets.skipped} without a literal\n`,
  );
}

async function readFacts(file: string): Promise<readonly Fact[]> {
  const { size } = await stat(file).catch((cause: unknown) => Promise.reject(fileError(file, cause)));
  if (size > MAX_FILE_BYTES) throw usageError(`${file} has more than 64 MiB`);
  const text = await readFile(file, 'utf8').catch((cause: unknown) => Promise.reject(fileError(file, cause)));
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    try {
      return [FactLine.parse(JSON.parse(line))];
    } catch (cause) {
      const [issue] = cause instanceof z.ZodError ? cause.issues : [];
      const reason = issue ? `${issue.path.join('.') || 'the fact'}: ${issue.message}` : 'it is not JSON';
      throw usageError(`${file}, line ${at + 1}: ${reason}`, cause);
    }
  });
}

/** One section for each provider: `+` for a pattern that the catalog lacks, `!` for one that it gives to another provider. */
function printDifference(stdout: OutputStream, suggestions: readonly Suggestion[]): void {
  const byProvider = Map.groupBy(suggestions, ({ id, provider }) => id ?? slugOf(provider));
  for (const [id, all] of [...byProvider].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [{ id: known, name, provider, website = '' }] = all as [Suggestion];
    const what = known === undefined ? `new provider ${name ?? provider} ${website}` : 'known provider';
    stdout.write(`${path.relative('', fileOf(id))}: ${id}, ${plainText(what)}\n`);
    for (const { category, field, value, state, shown, source = '' } of all) {
      const note = state === 'new' ? source : `${state === 'conflict' ? 'shows ' : ''}${shown.join(', ')} ${source}`;
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      stdout.write(`${plainText(`${state === 'new' ? '+' : '!'} ${category} ${field}: ${text}  ${note}`).trimEnd()}\n`);
    }
    stdout.write('\n');
  }
}
