// `strata stack fingerprints`: what a fingerprint set contains, and what of it cannot be used. No network.
import { entries } from '@strata/catalog';
import { compileRulebook, type LoadReport, loadCatalog } from '@strata/detect';
import { loadFingerprints } from '@strata/stack';
import type { CommandContext, OutputStream } from '../../context.ts';
import { counted, type OutputOptions, plainText, printJson, printTable } from '../../output.ts';

/** Of a longer list, the number of further entries is printed; --json prints all. */
const SHOWN_UNUSABLE = 20;

/** Reads the sets as the service does and prints the report. */
export async function fingerprintsCommand(
  { stdout }: CommandContext,
  paths: readonly string[],
  options: OutputOptions,
): Promise<void> {
  const startedAt = performance.now();
  const { set, sizeBytes } = await loadFingerprints(paths);
  const { sets } = compileRulebook(loadCatalog(entries), { sets: set });
  const loadMs = Math.round(performance.now() - startedAt);
  const { merges = [], added = [], unresolved = [], needsSource = false } = sets ?? {};
  const { report } = set;
  if (options.json) {
    const provided = { merges, addedProviders: added.length, unresolved, needsSource };
    printJson(stdout, { ...report, ...provided, sizeBytes, loadMs });
    return;
  }
  printTable(
    stdout,
    ['item', 'count'],
    countsOf(report, { merged: merges.length, added: added.length, unresolved: unresolved.length }),
  );
  stdout.write(`\nread in ${loadMs} ms, ${(sizeBytes / 2 ** 20).toFixed(1)} MiB of files\n`);
  if (needsSource) stdout.write('html or text patterns: up to 64 KiB of each page are stored with its evidence\n');
  printUnsupported(stdout, report);
  printProblems(stdout, report);
}

function countsOf(
  report: LoadReport,
  { merged, added, unresolved }: { readonly merged: number; readonly added: number; readonly unresolved: number },
): readonly (readonly string[])[] {
  const counts = {
    technologies: report.technologies,
    'usable technologies': report.usable,
    'technologies in the catalog': merged,
    'added providers': added,
    patterns: report.patterns,
    'patterns without a literal': report.withoutLiteral,
    'rejected patterns': report.refusedPatterns,
    'other problems': report.badEntries,
    'unresolved names': unresolved,
  };
  return Object.entries(counts).map(([what, number]) => [what, String(number)]);
}

function printUnsupported(stdout: OutputStream, { unsupported, unusable, technologies, usable }: LoadReport): void {
  const fields = Object.entries(unsupported).map(([field, count]) => `${plainText(field)} ${count}`);
  if (fields.length > 0)
    stdout.write(`\nfields that a passive scan cannot observe, with their technologies: ${fields.join(', ')}\n`);
  if (unusable.length === 0) return;
  const shown = unusable.slice(0, SHOWN_UNUSABLE).map(plainText).join(', ');
  const rest = technologies - usable - Math.min(unusable.length, SHOWN_UNUSABLE);
  stdout.write(`unusable technologies: ${shown}${rest > 0 ? ` and ${rest} more` : ''}\n`);
}

function printProblems(stdout: OutputStream, { problems, refusedPatterns, badEntries }: LoadReport): void {
  if (problems.length === 0) return;
  stdout.write('\n');
  printTable(
    stdout,
    ['technology', 'field', 'problem', 'pattern', 'file'],
    problems.map(({ technology, field, problem, pattern, file }) => [technology, field, problem, pattern, file]),
  );
  const rest = refusedPatterns + badEntries - problems.length;
  if (rest > 0) stdout.write(`${counted(rest, 'more problem')}\n`);
}
