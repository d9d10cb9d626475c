// `strata catalog`: for contributors to the catalog of providers.
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import type { OutputOptions } from '../../output.ts';
import { effectiveEnvironment } from '../../settings/settings.ts';
import type { NewOptions } from './new.ts';
import type { ReleaseOptions, UpdateOptions } from './release.ts';

const newHelp = `
Writes an entry with one group of patterns, and a record for each pattern as its example; edit it where that is not enough:
  strata catalog new 'Example Mail' --website https://mail.example --category email --kind mailbox \\
    --pattern mx=in.mail.example --pattern spf=spf.mail.example --source https://docs.mail.example/dns
Patterns: ns, soa, mx, spf, dmarc, caa, cname=HOST, txt, tls, generator, asset, marker=TEXT, cookie=NAME, address=ADDRESS,
asn, mailAsn, nsAsn=NUMBER, dkim=SELECTOR._domainkey, named=LABEL=HOST, header=NAME or header="NAME: VALUE". catalog/provider.schema.json describes each.`;

const importHelp = `
A fact is a line such as
  {"provider": "Fastmail", "field": "mx", "value": "messagingengine.com", "source": "https://www.fastmail.help/..."}
Fields are those of a rule group, html.asset and so on for pages. Each pattern is detected on its own:
  +  nothing is detected: a suggestion
  !  another provider is detected, or the pattern is invalid`;

const releaseHelp = `
The file begins with a signed note (c2sp.org/signed-note), which has the date and the SHA-256 of the last line, the content:
  strata catalog release catalog.txt --name catalog.example --keys keys
  tail -n 1 catalog.txt | sha256sum
A key directory without a key gets one. Keep it private; services need the printed verifier key.`;

const updateHelp = `
Without an argument: url and signers of STRATA_CATALOG. A service that runs starts again with the release within 90 seconds.
Nothing is stored of a release with another signature, of more than 16 MiB, that is not newer, or with which 'catalog test' would fail.`;

export function addCatalogCommands(strata: Command, context: CommandContext): void {
  const catalog = strata.command('catalog').description('check, explain and extend the catalog of providers');
  const commands = () => import('./catalog.ts');
  const collect = (text: string, all: readonly string[]) => [...all, text];
  catalog
    .command('lint')
    .description('check the form of all entries; of the named ones also that they have sources and examples')
    .argument('[id...]', 'ids of providers')
    .action(async (ids: readonly string[]) => (await commands()).lint(context, ids));
  catalog
    .command('test')
    .description('check that each pattern alone shows its provider, and the examples and counterexamples')
    .argument('[id...]', 'ids of providers; all without one')
    .action(async (ids: readonly string[]) => (await commands()).test(context, ids));
  catalog
    .command('explain')
    .description('print the patterns of a provider, with their roles and sources')
    .argument('<name>', 'id, name or alias')
    .action(async (name: string) => (await commands()).explainProvider(context, name));
  catalog
    .command('new')
    .description('add a provider')
    .argument('<name>', "the owner's spelling")
    .requiredOption('--website <url>', 'home page of the product')
    .requiredOption('--category <category>', 'category of the patterns')
    .option('--role <role>', 'role in the category, if the kinds do not name it')
    .option('--kind <kind>', 'kind of product; may be repeated, the most characteristic first', collect, [])
    .option('--pattern <field=value>', 'a pattern; may be repeated', collect, [])
    .option('--source <url>', 'document of the vendor that has the patterns')
    .addHelpText('after', newHelp)
    .action(async (name: string, options: NewOptions) =>
      (await import('./new.ts')).newProvider(context, name, options),
    );
  catalog
    .command('release')
    .description('write the catalog to a signed file that services can fetch')
    .argument('<file>', 'file to write')
    .requiredOption('--name <name>', 'permanent name of the key, a URL without scheme: catalog.example')
    .requiredOption('--keys <directory...>', 'directories of signing keys; several while a key is replaced')
    .addHelpText('after', releaseHelp)
    .action(async (file: string, options: ReleaseOptions) =>
      (await import('./release.ts')).releaseCommand(context, file, options),
    );
  catalog
    .command('update')
    .description('verify a release, and store it for the service')
    .argument('[source]', 'URL or file')
    .option('--key <key...>', 'verifier keys that may sign it')
    .option('--check', 'only verify it, without the store of the service')
    .option('--bundled', 'remove the stored release: the catalog of the program is used until a newer one')
    .addHelpText('after', updateHelp)
    .action(async (source: string | undefined, options: UpdateOptions) => {
      const { readConfig } = await import('@strata/stack');
      const config = readConfig(await effectiveEnvironment(context, 'stack'));
      await (await import('./release.ts')).updateCommand(context, source, options, config);
    });
  catalog
    .command('import')
    .description('print the patterns of fingerprint sets and lists of facts that the catalog lacks; writes nothing')
    .argument('<path...>', 'sets in the Wappalyzer format, and .ndjson files of facts')
    .option('--json', 'print all, also those that the catalog knows, as JSON')
    .addHelpText('after', importHelp)
    .action(async (paths: readonly string[], options: OutputOptions) =>
      (await import('./import.ts')).importPatterns(context, paths, options),
    );
}
