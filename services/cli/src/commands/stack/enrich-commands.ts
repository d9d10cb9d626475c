// `strata stack enrich sync | status`: published vulnerabilities, fetched now or looked at.
import type { Config } from '@strata/stack';
import { type Command, Option } from 'commander';
import type { CommandContext } from '../../context.ts';

const commands = () => import('./enrich.ts');

/** Adds the commands to `enrich`; returns it. */
export function addEnrichCommands(enrich: Command, context: CommandContext, config: () => Promise<Config>): Command {
  enrich
    .command('sync')
    .description('fetch what is new of the sources of advisories: all that are configured, or those that are named')
    .argument('[source...]', 'kev, epss, nvd, osv or cve')
    .addOption(new Option('--from <folder>', "a folder of the publishers' own files, in place of the net"))
    .option('--json', 'print the outcome as JSON')
    .action(async (sources: string[], options) =>
      (await commands()).syncCommand(context, sources, options, await config()),
    );
  enrich
    .command('status')
    .description('how fresh the advisories are, source by source')
    .option('--json', 'print as JSON')
    .action(async (options) => (await commands()).statusCommand(context, options, await config()));
  return enrich;
}
