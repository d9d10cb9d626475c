// The simulated internet in a process of its own, so that its work is not counted as ours: its feeds, its publishers of advisories,
// and its companies, which move as the days of its clock pass.
import { createInternet } from '@strata/testnet';
import { reportReady } from '../measure.ts';
import { type ShortDays, shortDays } from './days.ts';

export interface MovingInternetOptions {
  readonly domains: number;
  readonly migrationShare: number;
  readonly hasFaults?: boolean;
  readonly days: ShortDays;
}

/** What a node needs to see it. */
export interface MovingInternet {
  readonly domains: readonly string[];
  readonly feeds: readonly { readonly url: string }[];
  readonly resolver: { readonly address: string; readonly port: number };
  readonly caPem: string;
  readonly plainPort: number;
  readonly securePort: number;
  /** Settings that name the publishers of advisories. */
  readonly publishers: Readonly<Record<string, string>>;
}

/** How often it checks whether a day has passed. */
const CHECK_EVERY_MS = 250;

const options = JSON.parse(process.argv[2] ?? '{}') as MovingInternetOptions;
const now = shortDays(options.days);
const { domains, migrationShare, hasFaults = true } = options;
// A lost packet delays a scan by a second: network faults have their own benches.
const internet = await createInternet({ domains, migrationShare, hasFaults, now, vantage: { lossShare: 0 } });
const publishers = await internet.advisories();
const dayOf = () => Math.floor((now().getTime() - options.days.from) / 86_400_000);
const moving = setInterval(() => {
  const passed = dayOf() - internet.day;
  if (passed > 0) internet.advance(passed);
}, CHECK_EVERY_MS);
const web = (port: number) => internet.dial({ address: '8.8.8.8', port }).port;
const internetAddresses: MovingInternet = {
  domains: internet.domains(),
  feeds: internet.feeds().map(({ url }) => ({ url })),
  resolver: internet.resolver,
  caPem: internet.caPem,
  plainPort: web(80),
  securePort: web(443),
  publishers: {
    STRATA_ADVISORY_URLS: publishers.urlsSetting,
  },
};
reportReady(internetAddresses, async () => {
  clearInterval(moving);
  await internet[Symbol.asyncDispose]();
});
