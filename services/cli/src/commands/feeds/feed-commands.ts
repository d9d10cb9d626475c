// `strata stack feeds add | list | remove | import | export | poll`.
import type { Config } from '@strata/stack';
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';

const commands = () => import('./feeds.ts');

export function addFeedCommands(feeds: Command, context: CommandContext, config: () => Promise<Config>): void {
  feeds
    .command('add')
    .description('subscribe to RSS, Atom or JSON feeds')
    .argument('<url...>', 'URLs of feeds')
    .option('--no-check', 'do not search web pages for links to feeds')
    .option('--json', 'print as JSON')
    .action(async (urls: string[], options) =>
      (await commands()).addFeedsCommand(context, urls, options, await config()),
    );
  feeds
    .command('list')
    .description('list feeds and the results of their last polls')
    .option('--failing', 'only feeds that failed at the last poll or are no longer polled')
    .option('--json', 'print as JSON')
    .action(async (options) => (await commands()).listFeedsCommand(context, options, await config()));
  feeds
    .command('remove')
    .description('unsubscribe from feeds and delete their items')
    .argument('<url...>', 'URLs of feeds, from the list')
    .option('--json', 'print as JSON')
    .action(async (urls: string[], options) =>
      (await commands()).removeFeedsCommand(context, urls, options, await config()),
    );
  feeds
    .command('import')
    .description('subscribe to the feeds of a list: OPML, or one URL a line')
    .argument('<file>', 'a file, or - for standard input')
    .option('--json', 'print as JSON')
    .action(async (file: string, options) =>
      (await commands()).importFeedsCommand(context, file, options, await config()),
    );
  feeds
    .command('export')
    .description('print the URLs of all feeds, one a line')
    .option('--opml', 'print OPML 2.0, the format of feed readers')
    .action(async (options) => (await commands()).exportFeedsCommand(context, options, await config()));
  feeds
    .command('poll')
    .description('poll the feeds that are due; can be interrupted and repeated')
    .option('--all', 'poll all feeds that are still polled, also those that are not due')
    .option('--json', 'print the summary as JSON')
    .action(async (options) => (await import('./poll-feeds.ts')).pollFeedsCommand(context, options, await config()));
}
