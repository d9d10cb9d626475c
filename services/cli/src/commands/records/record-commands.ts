// The commands that ask for observed records, and for the usage of a key.
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import { integerBetween, ofService } from '../../option-parsers.ts';
import type { PivotOptions, RecordsOptions } from './records.ts';
import type { UsageOptions } from './usage.ts';

const exitCodes = `
Exit codes:
  0  the answer was printed
  1  the service refused, or did not answer
  2  usage error: a name, kind, value or option that cannot be used`;

const pivotHelp = `
Kinds: ns, ns_set, soa, mx, address, network, asn, cname, txt, verification, spf, dmarc, caa, certificate_name,
certificate_issuer, tag, favicon, redirect.
Examples:
  strata stack pivot tag GTM-ABC123
  strata stack pivot network 192.0.2.0/24 --past
${exitCodes}`;

export function addRecordCommands(stack: Command, context: CommandContext): void {
  const records = stack
    .command('records')
    .description('print the observed records of a domain, now or at a time, and the domains that share them')
    .argument('<domain>', 'domain name')
    .option('--at <time>', 'the records of a date, or of a time with a zone')
    .option('--history', 'when values appeared and disappeared, newest first')
    .option('--json', 'print the answer as JSON')
    .addHelpText('after', exitCodes)
    .action(async (domain: string, options: RecordsOptions) => {
      await (await import('./records.ts')).recordsCommand(context, domain, options);
    });
  const pivot = stack
    .command('pivot')
    .description('print the domains that share a value')
    .argument('<kind>', 'kind of the value')
    .argument('<value>', 'name server, exchange, address, network, tag id …')
    .option('--past', 'domains that no longer publish it')
    .option('--limit <count>', 'number of domains', '100')
    .option('--json', 'print the answer as JSON')
    .addHelpText('after', pivotHelp)
    .action(async (kind: string, value: string, options: PivotOptions) => {
      await (await import('./records.ts')).pivotCommand(context, [kind, value], options);
    });
  const usage = stack
    .command('usage')
    .description('print the requests of a key, by path and by day')
    .option('--days <count>', 'UTC days, including today', integerBetween(1, 90), 30)
    .option('--json', 'print the answer as JSON')
    .addHelpText('after', exitCodes)
    .action(async (options: UsageOptions) => {
      await (await import('./usage.ts')).usageCommand(context, options);
    });
  for (const command of [records, pivot, usage]) ofService(command);
}
