// `strata stack enrich sync | status`.
import type { Config } from '@strata/stack';
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';

const commands = () => import('./enrich.ts');

export function addEnrichCommands(enrich: Command, context: CommandContext, config: () => Promise<Config>): void {
  enrich
    .command('sync')
    .description('fetch new advisories from the configured sources, or from those that are named')
    .argument('[source...]', 'kev, epss, nvd, osv or cve')
    .option('--from <folder>', "read a folder of the publishers' own files instead of the network")
    .option('--json', 'print the outcome as JSON')
    .action(async (sources: string[], options) =>
      (await commands()).syncCommand(context, sources, options, await config()),
    );
  enrich
    .command('status')
    .description('show when each source was last synced')
    .option('--json', 'print as JSON')
    .action(async (options) => (await commands()).statusCommand(context, options, await config()));
}
