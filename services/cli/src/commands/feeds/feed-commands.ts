// `strata stack feeds add | list | remove | import | export | poll`.
import type { Config } from '@strata/stack';
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';

const commands = () => import('./feeds.ts');

/** Adds the commands to `feeds`; returns it. */
export function addFeedCommands(feeds: Command, context: CommandContext, config: () => Promise<Config>): Command {
  feeds
    .command('add')
    .description('subscribe to feeds: RSS, Atom or JSON Feed')
    .argument('<url...>', 'addresses of feeds')
    .option('--no-check', 'do not look whether they are pages that announce feeds')
    .option('--json', 'print as JSON')
    .action(async (urls: string[], options) =>
      (await commands()).addFeedsCommand(context, urls, options, await config()),
    );
  feeds
    .command('list')
    .description('list subscribed feeds, and how their last polls went')
    .option('--failing', 'only those whose last poll failed, and those given up')
    .option('--json', 'print as JSON')
    .action(async (options) => (await commands()).listFeedsCommand(context, options, await config()));
  feeds
    .command('remove')
    .description('unsubscribe; what the feeds said is forgotten')
    .argument('<url...>', 'addresses that list shows')
    .option('--json', 'print as JSON')
    .action(async (urls: string[], options) =>
      (await commands()).removeFeedsCommand(context, urls, options, await config()),
    );
  feeds
    .command('import')
    .description('subscribe to the feeds of a list: OPML, or one address a line')
    .argument('<file>', 'a file, or - for standard input')
    .option('--json', 'print as JSON')
    .action(async (file: string, options) =>
      (await commands()).importFeedsCommand(context, file, options, await config()),
    );
  feeds
    .command('export')
    .description('print the addresses of all feeds, one a line')
    .option('--opml', 'as OPML 2.0, which feed readers take')
    .action(async (options) => (await commands()).exportFeedsCommand(context, options, await config()));
  feeds
    .command('poll')
    .description('poll now what is due; interrupted and started again it goes on with what is left')
    .option('--all', 'make every feed due first, but for those given up')
    .option('--json', 'print the summary as JSON')
    .action(async (options) => (await import('./poll-feeds.ts')).pollFeedsCommand(context, options, await config()));
  return feeds;
}
