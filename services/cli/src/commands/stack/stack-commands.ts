// `strata stack`: the commands of the stack service.
import type { Config } from '@strata/stack';
import { type Command, Option } from 'commander';
import type { CommandContext } from '../../context.ts';
import { CommandError } from '../../errors.ts';
import { integerBetween, ofService } from '../../option-parsers.ts';
import { counted, type OutputOptions } from '../../output.ts';
import { addFeedCommands } from '../feeds/feed-commands.ts';
import { addKeyCommands } from '../keys/key-commands.ts';
import { addRecordCommands } from '../records/record-commands.ts';
import type { ServiceOptions } from '../records/service-client.ts';
import type { ScanOptions } from '../scan/scan.ts';
import { addStoreCommands } from '../store/store-commands.ts';
import { addLedgerOptions, LEDGER_MEMORY_HELP } from '../verify/ledger-options.ts';
import type { VerifyOptions } from '../verify/verify.ts';
import { addWatchCommands } from '../watch/watch-commands.ts';
import { addEnrichCommands } from './enrich-commands.ts';
import type { ExplainOptions } from './explain.ts';
import type { ExportCommandOptions } from './export.ts';
import type { LookupCommandOptions } from './lookup.ts';
import type { QueryCommandOptions } from './query.ts';
import type { CompareOptions } from './segments.ts';

const serveHelp = `
Roles (also STRATA_ROLE). Several processes share one PostgreSQL database (STRATA_DATABASE_URL=postgres://...):
  all        everything in one process
  api        answers requests and runs on-demand scans
  scanner    runs scheduled scans; any number of processes
  scheduler  alerts, stream, advisories and feeds; one process is active, further ones are on standby
A scanner and a scheduler listen on STRATA_METRICS_PORT only, with /health and /ready beside /metrics.`;

const verifyHelp = `
A CSV answer has its receipt in the header Stack-Provenance. Save both, then verify:
  curl -D headers.txt -o file.csv -H "X-Stack-Key: $STRATA_KEY" URL
  strata stack verify file.csv --provenance headers.txt --base SERVICE
To verify a stream event, save its JSON (the text after "data:") in a file.
${LEDGER_MEMORY_HELP}
Exit codes:
  0  the receipt is valid
  1  the receipt is invalid or missing
  2  usage error: the file does not exist or is not an answer
  3  the receipt is valid, and the answer is an error (such as an invalid key or an unknown domain)
  4  not verified: the answer, the keys or the ledger could not be fetched
  5  the ledger conflicts with the known one: a fork, lost leaves, or another key or name`;

const lookupHelp = `
A single CSV file is returned row by row, with its other columns after those of the service; other lists
have one row for each name, which may be a URL or an e-mail address. Names are in the column "domain", "website", "web",
"homepage", "url", "hostname" or "host", else in the first one with a domain in the first or second row. A hundred names cost one request of the quota. More than 1,000 are looked up by a job of the service.
Columns: domain, registrable, error, state, scanned_at, sector, score, grade; the providers by role (dns, mailbox, gateway,
sender, origin, edge, protection, verified, issuer, platform); spf, dmarc, dmarc_effective, dmarc_reporting, mta_sts, tls_rpt,
dnssec, caa, bimi, tls_trusted; the other roles (forwarding, dmarc_reports, waf, bot_protection, site_builder,
creator_platform, careers, help_centre, status_page, identity); first_seen, changed_at. A table has a few of them by default, the other formats all.

Exit codes:
  0  the rows were printed, also for domains that were never scanned
  1  the service refused, or did not answer
  2  usage error: a file, name or option that cannot be used`;

const explainHelp = `
Example:
  echo '{"domain": "example.com", "mx": [{"preference": 10, "exchange": "aspmx.l.google.com"}]}' | strata stack explain
prints the mail provider with its evidence:
  {"domain":"example.com","services":[{"category":"email","provider":"Google Workspace",...}]}

Fields (only domain is required; unknown fields are reported on standard error and ignored):
  {"domain": "example.com", "ns": ["..."], "mx": [{"preference": 10, "exchange": "..."}], "txt": ["..."],
   "dmarc": "...", "dkim": {"selector": "v=DKIM1; ..."}, "caa": ["..."], "cname": {"www.example.com": "..."},
   "a": [{"address": "192.0.2.1", "asn": 64496, "as_name": "..."}], "headers": {"server": "..."},
   "cookies": ["..."], "html": "...", "tls_issuer": "...",
   "soa": "ns1.example.net hostmaster.example.net 1", "ds": ["60485 13 2 D4B7D520"],
   "aaaa": [{"address": "2001:db8::1", "asn": 64496}], "www": [{"address": "192.0.2.1", "asn": 64496}],
   "mx_addresses": [{"host": "mail.example.com", "address": "192.0.2.25", "asn": 64496}],
   "ns_addresses": [{"host": "ns1.example.com", "address": "192.0.2.53", "asn": 64496}],
   "spf_policies": {"_spf.example.net": ["..."]}, "dmarc_parents": {"com": ["..."]},
   "report_consents": {"example.net": ["..."]}, "mta_sts_policy": "...", "security_txt": "..."}

spf_policies, dmarc_parents and report_consents hold TXT records: of the names that the SPF policy includes, of _dmarc at parent
domains, and of example.com._report._dmarc at report receivers. mta_sts_policy and security_txt hold the contents of the files.`;

const fingerprintsHelp = `
Reads a fingerprint set in the Wappalyzer format. Set STRATA_FINGERPRINTS to use it in the service, in addition to the
catalog.

Exit codes:
  0  the set can be used, with or without rejected patterns
  1  a path does not exist, or nothing in it can be used`;

const exportHelp = `
Tables: domains, services (current ones), records (with their intervals), history (changes), scorecard (security posture). Each has
the filters of its path in the API; of all tables but history those of a search:
  strata stack export domains --format parquet --filter provider=cloudflare --filter state=live
  strata stack export history --filter since=30d --output changes.csv
A hundred rows cost one request of the quota. The same command resumes an interrupted download within an hour, without cost.`;

function addExportCommand(stack: Command, context: CommandContext): void {
  ofService(
    stack
      .command('export')
      .description('download a complete table of a service as a file')
      .argument('<table>', 'domains, services, records, history or scorecard')
      .addOption(
        new Option('--format <format>', 'format of the file').choices(['csv', 'ndjson', 'parquet']).default('csv'),
      )
      .option('--fields <names>', 'columns, comma-separated')
      .option('--filter <name=value>', 'a filter; may be repeated', (text, all: string[]) => [...all, text], [])
      .option('--output <file>', 'by default the table with the ending of the format'),
  )
    .addHelpText('after', exportHelp)
    .action(async (table: string, options: ExportCommandOptions) => {
      await (await import('./export.ts')).exportCommand(context, table, options);
    });
}

function addQueryCommand(stack: Command, context: CommandContext): void {
  ofService(
    stack
      .command('query')
      .description('print the domains that match a query, such as "email:google-workspace NOT dmarc:reject"')
      .argument('<query>', 'a query; docs/query-language.md has the language')
      .option('--sort <order>', 'name, or score, scanned_at, first_seen or changed_at; - before it: descending')
      .option('--facets <names>', 'counts by provider, a category, role, tld, sector, state or grade, comma-separated')
      .option('--limit <rows>', 'at most 1,000', integerBetween(1, 1_000), 50)
      .addOption(
        new Option('--format <format>', 'output format').choices(['table', 'csv', 'ndjson', 'json']).default('table'),
      ),
  ).action(async (query: string, options: QueryCommandOptions) => {
    await (await import('./query.ts')).queryCommand(context, query, options);
  });
}

function addSegmentCommands(stack: Command, context: CommandContext): void {
  const segment = stack.command('segment').description('queries saved under a name, for segment:NAME in other queries');
  const commands = () => import('./segments.ts');
  ofService(segment.command('save').description('save or replace a segment'))
    .argument('<name>', 'letters a-z, digits, - and _')
    .argument('<query>', 'a query; docs/query-language.md has the language')
    .action(async (name: string, query: string, options: ServiceOptions) =>
      (await commands()).saveSegment(context, [name, query], options),
    );
  ofService(segment.command('list').description('print the segments of the key')).action(
    async (options: ServiceOptions) => (await commands()).listSegments(context, options),
  );
  ofService(segment.command('delete').description('delete a segment'))
    .argument('<name>', 'its name')
    .action(async (name: string, options: ServiceOptions) => (await commands()).deleteSegment(context, name, options));
  ofService(stack.command('compare').description('compare the domains of two queries: market shares and scores'))
    .argument('<a>', 'a query, such as segment:shops')
    .argument('<b>', 'another query')
    .option('--category <category>', 'only this category')
    .option('--role <role>', 'only the market of this role, such as waf')
    .option('--limit <rows>', 'providers of a category or role', integerBetween(1, 1_000), 5)
    .option('--json', 'print the answer as JSON')
    .action(async (a: string, b: string, options: CompareOptions) =>
      (await commands()).compareCommand(context, [a, b], options),
    );
}

export function addStackCommands(
  stack: Command,
  context: CommandContext,
  config: (overrides?: Readonly<Record<string, string>>) => Promise<Config>,
): void {
  stack
    .command('serve')
    .description('run the service until SIGINT or SIGTERM')
    .addOption(
      // The settings table has the same names, but importing it would cost every command half a second.
      new Option('--role <role>', 'role of this process; all roles but "all" need PostgreSQL').choices([
        'all',
        'api',
        'scanner',
        'scheduler',
      ]),
    )
    .addHelpText('after', serveHelp)
    .action(async ({ role }: { readonly role?: string }) => {
      const settings = await config(role === undefined ? {} : { STRATA_ROLE: role });
      await (await import('./serve.ts')).serveCommand(context, settings);
    });
  stack
    .command('scan')
    .description('scan domains now')
    .argument('<target...>', 'domain names, files with one name a line, or - for standard input')
    .option('--force', 'also scan domains that were scanned recently')
    .option('--json', 'print the summary as JSON')
    .action(async (targets: string[], options: ScanOptions) => {
      const { scanCommand } = await import('../scan/scan.ts');
      await scanCommand(context, targets, options, await config());
    });
  ofService(
    stack
      .command('lookup')
      .description('print what a service knows about domains, without scanning them')
      .argument('<target...>', 'domain names, files with one name a line or CSV, or - for standard input')
      .option('--fields <names>', 'columns to print, comma-separated')
      .addOption(
        new Option('--format <format>', 'output format')
          .choices(['table', 'csv', 'ndjson', 'parquet', 'json'])
          .default('table'),
      ),
  )
    .addHelpText('after', lookupHelp)
    .action(async (targets: string[], options: LookupCommandOptions) => {
      const { lookupCommand } = await import('./lookup.ts');
      await lookupCommand(context, targets, options);
    });
  addQueryCommand(stack, context);
  addSegmentCommands(stack, context);
  addRecordCommands(stack, context);
  addWatchCommands(stack, context);
  addExportCommand(stack, context);
  stack
    .command('dump')
    .description(
      'write all tables as Parquet to the folder or bucket of STRATA_DUMP_URL, in place of the dump of today',
    )
    .option('--json', 'print the manifest as JSON')
    .action(async (options: OutputOptions) => {
      await (await import('../store/dump.ts')).dumpCommand(context, options, await config());
    });
  addLedgerOptions(stack.command('verify'), 'service')
    .description('verify the receipt of an answer, and the consistency of its ledger')
    .argument('<url | file>', 'URL of an answer, or a file that contains one (- for standard input)')
    .addOption(new Option('--key <key>', 'API key for the request').env('STRATA_KEY'))
    .option('--base <url>', 'URL of the service that sent a saved answer', 'http://127.0.0.1:8787')
    .option('--provenance <file>', 'for a saved CSV: its response headers, or the JSON of its Stack-Provenance header')
    .option('--json', 'print the steps as JSON')
    .addHelpText('after', verifyHelp)
    .action(async (target: string, options: VerifyOptions) => {
      const { verifyCommand } = await import('../verify/verify.ts');
      await verifyCommand(context, target, options);
    });
  stack
    .command('explain')
    .description(
      'detect providers from DNS and HTTP records on standard input, one JSON object a line; no network access',
    )
    .addOption(
      new Option('--fingerprints <paths>', 'fingerprint sets in addition to the catalog, comma-separated').env(
        'STRATA_FINGERPRINTS',
      ),
    )
    .addHelpText('after', explainHelp)
    .action(async (options: ExplainOptions) => {
      const { explain } = await import('./explain.ts');
      const invalid = await explain(context, options);
      if (invalid > 0) throw new CommandError(`${counted(invalid, 'record')} could not be read`);
    });
  stack
    .command('fingerprints')
    .description('check a fingerprint set: its technologies, and the patterns that cannot be used')
    .argument('<path...>', 'files, or folders with technologies/*.json or *.json')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', fingerprintsHelp)
    .action(async (paths: string[], options: OutputOptions) => {
      await (await import('./fingerprints.ts')).fingerprintsCommand(context, paths, options);
    });
  addStoreCommands(stack, context, config);
  addFeedCommands(
    stack.command('feeds').description('news feeds; domains mentioned in them are counted'),
    context,
    config,
  );
  addKeyCommands(stack.command('keys').description('API keys and signing keys'), context, {
    open: async () => (await import('@strata/stack')).openConfiguredStore(await config()),
    databaseUrl: async () => (await config()).databaseUrl,
    ledger: async () => {
      const { databaseUrl, ledgerOrigin } = await config();
      return { url: databaseUrl, origin: ledgerOrigin };
    },
    signingDirectory: async () => (await config()).dataDirectory,
  });
  addEnrichCommands(stack.command('enrich').description('known vulnerabilities of detected products'), context, config);
}
