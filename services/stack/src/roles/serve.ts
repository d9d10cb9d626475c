// Starts and stops a process of any role.
import { lockedDirectories, warnOfFileSystem } from '@strata/db';
import { labelOf } from '@strata/scan';
import type { Logger } from 'pino';
import { catalogReplaced } from '../catalog/update-catalog.ts';
import type { Config } from '../config.ts';
import type { RunningRole, World } from '../context.ts';
import { sleep } from '../sleep.ts';
import type { Store } from '../store/index.ts';
import { startStack } from './start-api.ts';
import { startScanner } from './start-scanner.ts';
import { startScheduler } from './start-scheduler.ts';

/** Starts the configured role; resolves when it is ready. */
export function startRole(config: Config, logger: Logger, world: World = {}): Promise<RunningRole> {
  switch (config.role) {
    case 'all':
    case 'api':
      return startStack(config, logger, world);
    case 'scanner':
      return startScanner(config, logger, world);
    case 'scheduler':
      return startScheduler(config, logger, world);
    default:
      return config.role satisfies never;
  }
}

/** Real mode: runs on the internet until SIGINT or SIGTERM. A second signal ends the process immediately. */
export async function serve(config: Config, logger: Logger): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  for (const directory of lockedDirectories(config)) warnOfFileSystem(directory, logger);
  await serveUntil(stopping.signal, { config, logger });
}

export interface ServeDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly world?: World;
  /** Replaces the delays in tests. */
  readonly wait?: typeof sleep;
}

/** The longest delay before another attempt to start again. */
const LAST_RETRY_MS = 60_000;

/**
 * Serves until the signal aborts, and starts again within the process when the store has another catalog release. Rejects if
 * the first start fails; a later one is repeated, since all nodes start again at the same time.
 */
export async function serveUntil(
  signal: AbortSignal,
  { config, logger, world, wait = sleep }: ServeDeps,
): Promise<void> {
  let retryMs: number | undefined;
  const serveOnce = async () => {
    await using running = await startRole(config, logger, { ...world, signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return undefined;
    });
    if (!running) return;
    await begin(running, { config, logger }, signal);
    retryMs = 1_000;
    await catalogReplaced(running.store, running.catalog, { signal, wait });
    logger.info(signal.aborted ? 'stopping' : 'the store has another catalog release: starting again with it');
  };
  while (!signal.aborted) {
    try {
      await serveOnce();
    } catch (error) {
      if (retryMs === undefined || signal.aborted) throw error;
      logger.error({ err: error, retryMs }, 'starting again failed');
      await wait(retryMs, signal);
      retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
    }
  }
}

/** Reports what is served; prepares an empty store. */
async function begin(
  { port, metricsPort, store, catalog, isDnsWorking }: RunningRole,
  { config, logger }: Pick<ServeDeps, 'config' | 'logger'>,
  signal: AbortSignal,
): Promise<void> {
  const url = port === undefined ? {} : { url: `http://${config.host}:${port}/` };
  logger.info({ role: config.role, ...url, metricsPort, catalog: catalog.source }, 'ready');

  if (config.role === 'all' || config.role === 'scheduler') await seedEmptyStore(store, logger);
  if (isDnsWorking && !(await isDnsWorking()) && !signal.aborted) {
    logger.warn(
      { resolvers: config.resolvers.length > 0 ? config.resolvers.map(labelOf) : 'of the system' },
      'DNS does not answer: scans are not possible, stored data is still served. Check these resolvers, or set STRATA_RESOLVERS',
    );
  }
}

async function seedEmptyStore(store: Store, logger: Logger): Promise<void> {
  if (!(await store.domains.isEmpty())) return;
  await store.domains.add(wellKnownDomains, { source: 'bundled' });
  logger.info(
    { domains: wellKnownDomains.length },
    'the store is empty: starting with a small bundled list of well-known domains',
  );
}

const wellKnownDomains: readonly string[] = `
adobe.com airbnb.com akamai.com alibaba.com amazon.com apple.com asus.com atlassian.com auth0.com baidu.com
bbc.co.uk bing.com bloomberg.com booking.com canva.com cern.ch cisco.com cloudflare.com cnn.com coursera.org
debian.org dell.com digitalocean.com discord.com docker.com dropbox.com duckduckgo.com ebay.com economist.com elastic.co
etsy.com europa.eu facebook.com fastly.com figma.com ft.com gandi.net github.com gitlab.com gnu.org
google.com grafana.com harvard.edu hashicorp.com heise.de hetzner.com hp.com hubspot.com ibm.com ietf.org
ikea.com imdb.com intel.com intuit.com kernel.org khanacademy.org lemonde.fr linkedin.com linode.com mailchimp.com
mastercard.com microsoft.com mit.edu mongodb.com mozilla.org mysql.com namecheap.com nasa.gov nature.com netflix.com
netlify.com nginx.org nike.com nodejs.org notion.so npmjs.com nvidia.com nytimes.com okta.com openssl.org
oracle.com ovhcloud.com paypal.com pinterest.com postgresql.org proton.me python.org qualcomm.com redhat.com reddit.com
reuters.com rust-lang.org salesforce.com samsung.com sap.com shopify.com siemens.com slack.com sony.com spiegel.de
spotify.com sqlite.org squarespace.com stackoverflow.com stanford.edu stripe.com theguardian.com toyota.com twilio.com ubuntu.com
uber.com un.org unesco.org vercel.com visa.com vodafone.com w3.org who.int wikipedia.org wordpress.com
wsj.com x.com yahoo.com yale.edu yandex.ru youtube.com zalando.de zendesk.com zoho.com zoom.us
`
  .trim()
  .split(/\s+/);
