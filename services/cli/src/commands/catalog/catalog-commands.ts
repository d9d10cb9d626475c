// `strata catalog`: for contributors to the catalog of providers.
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import type { OutputOptions } from '../../output.ts';
import type { NewOptions } from './new.ts';

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
    .requiredOption('--source <url>', 'document of the vendor that has the patterns')
    .addHelpText('after', newHelp)
    .action(async (name: string, options: NewOptions) =>
      (await import('./new.ts')).newProvider(context, name, options),
    );
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
