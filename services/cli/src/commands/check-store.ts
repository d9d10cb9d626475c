// `strata stack check-store`: damage of the database in words, with what to do.
import type { Config } from '@strata/stack';
import { checkStore } from '@strata/store';
import { CommandError, counted, type OutputOptions, printJson } from '../output.ts';

/** Throws CommandError (exit code 1) where anything was found. */
export async function checkStoreCommand({ json = false }: OutputOptions, config: Config): Promise<void> {
  const { findings, checks } = await checkStore(config.databaseUrl);
  if (json) printJson({ checks, findings });
  else if (findings.length === 0)
    process.stdout.write(`${counted(checks.length, 'check')} found nothing: ${checks.join(', ')}\n`);
  else for (const { what, advice } of findings) process.stdout.write(`${what}\n  ${advice}\n`);
  if (findings.length > 0) throw new CommandError(`${counted(findings.length, 'finding')} in the store`);
}
